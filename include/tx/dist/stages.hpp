// What a pipeline makes of a recorded loss: the blocks of a repeat, which ranks divide among them, what comes before and beside them, and what comes after; each a graph of its own, with its
// gradients. Where one reads what another computes there is a leaf in its place, a *cut*.
//
//   recorded   h = embedding(t, ids), m = mask(ids), y = repeat<12>(h, m, w), l = loss(y, labels)
//   before     h of ids                       and back: gradients by t, given that by h
//   beside     m of ids                       (and back where m is made of parameters)
//   forward    y of h, m and a rank's part of w, with what backward will read
//   backward   gradients by h and that part of w, given that by y
//   after      l of y and labels, with its gradients by y and what it reads of parameters
#pragma once

#include <tx/autodiff/reverse.hpp>
#include <tx/dist/repeated_blocks.hpp>
#include <tx/expr/parameter_layout.hpp>
#include <tx/graph/change.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::dist::detail {

// Leaf number k of a part of a graph that stands for a value of another one: a parameter that no layout has.
constexpr attributes of_cut(int number) { return of_parameter(number, -1 - number); }
// -1: the node is no such leaf.
constexpr int cut_number(node const& n) { return n.op == &parameter_info && parameter_entry(n.at) < 0 ? -1 - parameter_entry(n.at) : -1; }
constexpr int find_cut(graph const& g, int number) {
  for (int id = 0; id < g.size(); ++id)
    if (cut_number(g[id]) == number) return id;
  return -1;
}
constexpr int emit_cut(graph& g, int number, value_info const& info) {
  g.current = 0;
  return emit_leaf(g, parameter_info, info, of_cut(number)).id;
}
// From here on leaf `number` stands for a value of g, of which the leaf may be a part.
constexpr void cut(graph& g, int value, int number, value_info const& info) {
  replace_everywhere(g, value, emit_cut(g, number, info));
}
constexpr graph part_for(graph g, vec<int> const& values) {
  g.outputs.clear();
  for (int v : values) g.outputs.push_back({v, output_kind::result, -1});
  return passes::rewrite(g, passes::detail::as_it_is{});
}

// A parameter of which all ranks have all.
struct leaf_of_all {
  attributes at{};
  value_info info{};

  constexpr bool operator==(leaf_of_all const&) const = default;
};
// What belongs to a parameter of the blocks.
struct block_parameter {
  int entry = 0;         // of the layout
  value_info part{};     // of a rank: [each, ...]
  bool trained = false;  // is there a gradient by it?
  bool divided = false;  // does each rank keep its part alone?
};
// Is one of a repeat divided? Vectors are small: all ranks keep them.
template <class Model>
constexpr bool is_divided(layout_entry const& e) { return e.rank > 1 && layout<Model>::trains(e); }

template <class Model>
class stages {
 public:
  // one: a recorded forward pass; its outputs are results, the loss first.
  constexpr stages(graph const& one, int ranks) : one_(one), ranks_(ranks), blocks_(find_blocks(one)) {
    for (int owner : blocks_.owners)
      for (int k = 0; k < body_of(one, owner).carries; ++k) carried_.push_back({owner, k});
    carries = carried_.size();
    for (int k = 0; k < carries; ++k)
      if (!is_float(first_value(k).type)) throw invalid("pipeline: ranks hand on floating-point values alone, and a repeated block hands on others. FIX: hand them to it as they are, or make them anew in each block");
    for (int owner : blocks_.owners) {
      region const& body = body_of(one, owner);
      for (int k = body.carries; k < body.arguments.size(); ++k) read(one.input(owner, k), k >= body.carries + body.invariants);
    }
    if (blocks_.each == 0) throw invalid("pipeline: the model repeats no block that has parameters. FIX: tx::repeat<N, Block>");
    for (int id = 0; id < one.size(); ++id)
      if (is_given(one, id) && result_number(one[id].at) >= body_of(one, one.input(id, 0)).carries) throw invalid("pipeline: what each repeated block gives is read behind them all, where no rank has all of it. FIX: a model that reads the last one's");
    cut_all();
  }

  int carries = 0;
  vec<block_parameter> parameters{};  // of the blocks
  graph before{}, before_back{}, beside{}, beside_back{}, forward{}, backward{}, after{};
  // What the outputs of these are, in their order:
  //   before        each carry's first value               before_back  gradients by before_leaves
  //   beside        values that blocks read                beside_back  gradients by beside_leaves
  //   forward       each carry, then what is `saved`       backward     gradients by what is listed in backward_by
  //   after         results, then gradients by each carry, then by after_leaves
  vec<leaf_of_all> before_leaves{}, beside_leaves{}, after_leaves{};
  vec<int> saved{};        // cuts of `backward` that `forward` has values for
  struct gradient_by {
    int cut = -1;  // of a carry, a value beside or a parameter of the blocks; -1: of `leaf`
    leaf_of_all leaf{};
  };
  vec<gradient_by> backward_by{};
  int results = 0;
  missing_gradient no_gradient{};

  // Which cut is which: values of carries, values beside, gradients by either, parameters of the blocks, what the forward pass keeps.
  constexpr int cut_of_carry(int k) const { return k; }
  constexpr int cut_beside(int k) const { return carries + k; }
  constexpr int cut_of_gradient(int of_cut) const { return carries + beside_.size() + of_cut; }
  constexpr int cut_of_parameter(int k) const { return 2 * (carries + beside_.size()) + k; }
  constexpr int cut_kept(int k) const { return cut_of_parameter(parameters.size()) + k; }
  constexpr bool is_parameter(int number) const { return number >= cut_of_parameter(0) && number < cut_kept(0); }
  constexpr bool is_saved(int number) const { return number < cut_of_gradient(0) || number >= cut_kept(0); }
  constexpr int values_beside() const { return beside_.size(); }
  constexpr int blocks() const { return blocks_.count; }
  constexpr int each() const { return blocks_.each; }

 private:
  struct carry_of_repeat {
    int owner, number;
  };
  constexpr value_info const& first_value(int k) const { return one_.info(one_.input(carried_[k].owner, carried_[k].number)); }
  constexpr int carry_number(int owner, int number) const {
    for (int k = 0; k < carries; ++k)
      if (carried_[k].owner == owner && carried_[k].number == number) return k;
    return -1;
  }
  // Is a node one of the results of the repeats? In a graph in which these are nodes `owners`.
  static constexpr bool is_given(graph const& g, int id, vec<int> const& owners) {
    bool given = false;
    for (int owner : owners) given = given || (g[id].op == &result_info && g.input(id, 0) == owner);
    return given;
  }
  constexpr bool is_given(graph const& g, int id) const { return is_given(g, id, blocks_.owners); }

  // What the repeats are given beside carries.
  constexpr void read(int value, bool stacked) {
    node const& n = one_[value];
    if (n.op != &parameter_info || !stacked) {
      if (n.op == &parameter_info || n.op->kind == op_kind::constant) return;  // all ranks have it
      for (int known : beside_)
        if (known == value) return;
      beside_.push_back(value);
      beside_is_stacked_.push_back(stacked);
      return;
    }
    for (int known : of_parameter_)
      if (known == value) return;
    layout_entry const& e = layout<Model>::entries[parameter_entry(n.at)];
    int const all = e.info.dims.dim[0];  // the leaf may show fewer, where the others stand behind the repeat
    if (parameter_first(n.at) != e.offset) throw invalid("pipeline: the first block of a repeat is peeled, and ranks divide those that are repeated. FIX: peel::last, or peel::none");
    if (all % ranks_ != 0) throw invalid("pipeline: the ranks do not divide the blocks of a repeat. FIX: as many ranks as divide their number");
    if (blocks_.each != 0 && blocks_.each != all / ranks_) throw invalid("pipeline: a repeated block reads parameters of another repeat, which has more blocks or fewer. FIX: parameters of the block's own");
    blocks_.each = all / ranks_;
    value_info part = n.info;  // of a matrix that is divided a rank uses a portion of each block
    part.dims.set(0, blocks_.each);
    of_parameter_.push_back(value);
    parameters.push_back({parameter_entry(n.at), part, layout<Model>::trains(e), is_divided<Model>(e)});
  }

  // What is whole on all ranks: a parameter, but for those of the blocks.
  constexpr vec<int> whole_leaves(graph const& g, bool blocks_too) const {
    vec<int> leaves{};
    for (int id = 0; id < g.size(); ++id) {
      if (g[id].op != &parameter_info || cut_number(g[id]) >= 0) continue;
      int const entry = parameter_entry(g[id].at);
      for (block_parameter const& p : parameters)
        if (p.entry == entry && !blocks_too) throw invalid("pipeline: a parameter of a repeated block is read before the blocks, or as a whole. FIX: parameters of the block's own, or the step without tx::pipeline");
      if (layout<Model>::trains(layout<Model>::entries[entry])) leaves.push_back(id);
    }
    return leaves;
  }
  static constexpr vec<leaf_of_all> leaves_of(graph const& g, vec<int> const& ids) {
    vec<leaf_of_all> out{};
    for (int id : ids) out.push_back({g[id].at, g.info(id)});
    return out;
  }

  // Appends to a graph of several results, cut `seeds(k)` being the gradient by number k, the gradients by leaves.
  template <class Seed>
  constexpr vec<int> gradients_of(graph& g, vec<int> const& values, Seed const& seed, vec<int> const& leaves) {
    var sum{};
    for (int k = 0; k < values.size(); ++k) {
      value_info const info = tx::detail::gradient_info(g.info(values[k]));
      int const given = emit_cut(g, seed(k), info);
      var const own = sum_all(cast(var{&g, values[k]}, info.type) * var{&g, given});
      sum = sum.valid() ? sum + own : own;
    }
    return noted(g, gradients(g, sum.id, leaves));
  }
  constexpr vec<int> noted(graph const& g, vec<int> const& found) {
    if (g.no_gradient.op != nullptr && no_gradient.op == nullptr) no_gradient = g.no_gradient;
    return found;
  }
  static constexpr vec<int> values_of(graph const& g) {
    vec<int> values{};
    for (output const& o : g.outputs) values.push_back(o.value);
    return values;
  }
  static constexpr bool is_any(vec<int> const& found) {
    for (int id : found)
      if (id >= 0) return true;
    return false;
  }

  // A part whose results blocks read, and the way back from the gradients by these.
  template <class Seed>
  constexpr void both_ways(graph const& part, Seed const& seed, graph& back, vec<leaf_of_all>& leaves) {
    vec<int> const by = whole_leaves(part, false);
    if (by.empty()) return;
    graph g = part;
    vec<int> values{}, differentiable{};
    vec<char> const active = tx::detail::depends_on(g, by);
    for (int k = 0; k < part.outputs.size(); ++k)
      if (active[part.outputs[k].value]) values.push_back(part.outputs[k].value), differentiable.push_back(k);
    if (values.empty()) return;
    vec<int> const found = gradients_of(g, values, [&](int k) { return seed(differentiable[k]); }, by);
    vec<int> wanted{}, of{};
    for (int k = 0; k < by.size(); ++k)
      if (found[k] >= 0) wanted.push_back(found[k]), of.push_back(by[k]);
    leaves = leaves_of(g, of);
    if (!wanted.empty()) back = part_for(g, wanted);
  }

  constexpr void cut_all() {
    vec<int> firsts{};
    for (carry_of_repeat const& c : carried_) firsts.push_back(one_.input(c.owner, c.number));
    before = part_for(one_, firsts);
    both_ways(before, [&](int k) { return cut_of_gradient(cut_of_carry(k)); }, before_back, before_leaves);
    if (!beside_.empty()) {
      graph g = one_;
      vec<int> values{};
      for (int k = 0; k < beside_.size(); ++k) {
        g.current = 0;
        values.push_back(beside_is_stacked_[k] ? own_blocks({&g, beside_[k]}, blocks_.each, ranks_).id : beside_[k]);
      }
      beside = part_for(g, values);
      both_ways(beside, [&](int k) { return cut_of_gradient(cut_beside(k)); }, beside_back, beside_leaves);
    }
    cut_blocks();
    cut_after();
  }

  constexpr void cut_blocks() {
    graph g = one_;
    for (int k = 0; k < beside_.size(); ++k) cut(g, beside_[k], cut_beside(k), beside.info(beside.outputs[k].value));
    for (int k = 0; k < parameters.size(); ++k) cut(g, of_parameter_[k], cut_of_parameter(k), parameters[k].part);
    vec<int> regions{};
    for (int owner : blocks_.owners) {
      regions.push_back(run_region(g[owner].at));
      g.regions[regions.back()].iterations = blocks_.each;
      g.regions[regions.back()].of_ranks = blocks_.count;
    }
    vec<int> last{};
    for (int k = 0; k < carries; ++k) {  // there alone: a value may be one carry and another
      auto const [owner, number] = carried_[k];
      int const leaf = emit_cut(g, cut_of_carry(k), first_value(k));
      g.operands[g[owner].first + number] = leaf;
      last.push_back(g.emit(&result_info, &owner, 1, of_result(number), first_value(k)));
    }
    g = part_for(g, last);

    vec<int> by{};
    for (int k = 0; k < carries; ++k) add_leaf(g, cut_of_carry(k), by);
    for (int k = 0; k < beside_.size(); ++k)
      if (by_gradient_beside(k)) add_leaf(g, cut_beside(k), by);
    for (int k = 0; k < parameters.size(); ++k)
      if (parameters[k].trained) add_leaf(g, cut_of_parameter(k), by);
    for (int id : whole_leaves(g, false)) by.push_back(id);
    vec<int> const values = values_of(g);
    vec<int> const found = gradients_of(g, values, [&](int k) { return cut_of_gradient(cut_of_carry(k)); }, by);
    vec<int> wanted{};
    for (int k = 0; k < by.size(); ++k)
      if (found[k] >= 0) {
        wanted.push_back(found[k]);
        backward_by.push_back({cut_number(g[by[k]]), {g[by[k]].at, g.info(by[k])}});
      }
    // What the forward pass of the repeat gives is kept, as are the values that the blocks began with; anything else is computed again.
    vec<int> owners{}, kept{};
    for (int r : regions) owners.push_back(g.regions[r].owner);
    for (int id = 0; id < g.size(); ++id)
      if (is_given(g, id, owners)) kept.push_back(id);
    graph back = g;
    for (int k = 0; k < kept.size(); ++k) cut(back, kept[k], cut_kept(k), g.info(kept[k]));
    backward = part_for(back, wanted);
    vec<int> given = values;
    for (int id = 0; id < backward.size(); ++id) {
      int const number = cut_number(backward[id]);
      if (number < 0 || !is_saved(number)) continue;
      saved.push_back(number);
      given.push_back(number >= cut_kept(0) ? kept[number - cut_kept(0)] : find_cut(g, number));
    }
    forward = part_for(g, given);
  }
  constexpr void add_leaf(graph const& g, int number, vec<int>& leaves) const {
    if (int const leaf = find_cut(g, number); leaf >= 0 && is_float(g.info(leaf).type)) leaves.push_back(leaf);
  }
  // Is there a way back from the gradient by a value beside?
  constexpr bool by_gradient_beside(int k) const { return find_cut(beside_back, cut_of_gradient(cut_beside(k))) >= 0; }

  constexpr void cut_after() {
    graph g = one_;
    for (int id = 0; id < one_.size(); ++id)
      if (is_given(one_, id)) cut(g, id, cut_of_carry(carry_number(one_.input(id, 0), result_number(one_[id].at))), one_.info(id));
    vec<int> told = values_of(g);
    results = told.size();
    g = part_for(g, told);
    told = values_of(g);
    vec<int> by{};
    for (int k = 0; k < carries; ++k) add_leaf(g, cut_of_carry(k), by);
    int const handed_on = by.size();
    vec<int> const whole = whole_leaves(g, true);
    for (int id : whole) by.push_back(id);
    vec<int> const found = noted(g, gradients(g, told[0], by));
    if (handed_on == 0 || !is_any(found)) throw invalid("pipeline: the loss does not depend on the repeated blocks. FIX: use what they give");
    int next = 0;
    g.current = 0;
    for (int k = 0; k < carries; ++k) {
      bool const there = find_cut(g, cut_of_carry(k)) >= 0;
      int const gradient = there ? found[next++] : -1;
      value_info const info = tx::detail::gradient_info(first_value(k));
      told.push_back(gradient >= 0 ? cast(var{&g, gradient}, info.type).id : broadcast_to(constant(g, info.type, 0), info.dims).id);
    }
    vec<int> of{};
    for (int k = 0; k < whole.size(); ++k)
      if (found[handed_on + k] >= 0) told.push_back(found[handed_on + k]), of.push_back(whole[k]);
    after_leaves = leaves_of(g, of);
    after = part_for(g, told);
  }

  graph const& one_;
  int ranks_;
  repeated_blocks blocks_;
  vec<carry_of_repeat> carried_{};
  vec<int> of_parameter_{};  // the repeat's inputs that these are
  vec<int> beside_{};        // that are neither parameters nor constants
  vec<char> beside_is_stacked_{};
};

}  // namespace tx::dist::detail
