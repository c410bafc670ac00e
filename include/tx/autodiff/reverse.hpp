// Reverse mode as a graph-to-graph rewrite: nodes that compute gradients are appended to the graph that holds the loss.
// No tape, nothing recorded at run time. It walks op_info::vjp and knows no op by name but what makes up regions. Which values of a
// repeated block's forward pass are kept for backward is decided here too: is_residual, is_kept.
//
//   graph     y = matmul(x, w), l = sum(tanh(y))
//   appended  dy = 1 - tanh(y) * tanh(y), dw = matmul(transpose(x), dy)      tanh(y) is the node that is there already
#pragma once

#include <tx/autodiff/depends_on.hpp>
#include <tx/expr/stacked.hpp>
#include <tx/graph/leaf.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>

namespace tx {

namespace detail {

// Gradients of halves are f32 until a rule of arithmetic needs them: sums of them lose nothing.
constexpr value_info gradient_info(value_info info) {
  info.type = sum_type(info.type);
  return info;
}

// What a backward pass keeps of a forward one inside a repeated block: results of products, reductions and look-ups, and those
// rounded to a smaller type. Elementwise values in between are computed again, which costs less than the memory they would hold.
constexpr bool is_residual(op_kind kind) {
  return kind != op_kind::elementwise && kind != op_kind::view && kind != op_kind::index && kind != op_kind::constant &&
         kind != op_kind::leaf;
}

class reverse_walk final : public vjp_context {
 public:
  // Gradients of nodes of region `source` are emitted into region `target`; for a whole program, or within one block, they are the same.
  constexpr reverse_walk(graph& program, vec<char> const& active, reverse_walk* outer, int source, int target)
      : active_(active), outer_(outer), source_(source), target_(target), again_(outer != nullptr ? outer->again_ : nullptr) {
    g = &program;
  }
  constexpr ~reverse_walk() = default;

  constexpr var forward(int node_id) override {
    if (source_ == target_ || (*g)[node_id].region != source_) return {g, node_id};  // numbers of the program may be read anywhere
    if (node_id < mapped_.size() && mapped_[node_id] >= 0) return {g, mapped_[node_id]};
    int const reader = g->current;  // perhaps a body inside the one that runs backward here
    g->current = target_;
    int const inner = bring(node_id);
    g->current = reader;
    if (node_id >= mapped_.size()) mapped_.resize(node_id + 1, -1);
    mapped_[node_id] = inner;
    return {g, inner};
  }
  constexpr bool wanted(int node_id) const override { return active_[node_id] != 0; }
  constexpr void add(int node_id, var value) override {
    ++given_;
    if (!wanted(node_id)) return;
    if (is_storage_only(value.type())) value = cast(value, sum_type(value.type()));
    if (!(value.info() == gradient_info(g->info(node_id))))
      throw invalid("a gradient rule gave a gradient of another shape or type than its input. FIX: what goes to accumulate(k, ...) is shaped as c.in(k): sum over what the op repeats, then reshape; cast to its type");
    if (node_id >= adjoint_.size()) adjoint_.resize(node_id + 1, -1);
    adjoint_[node_id] = adjoint_[node_id] < 0 ? value.id : (var{g, adjoint_[node_id]} + value).id;
  }
  // Nodes of repeated blocks that the backward pass computes again, whatever they cost.
  constexpr void compute_again(vec<char> const& again) { again_ = &again; }
  constexpr int adjoint(int node_id) const { return node_id < adjoint_.size() ? adjoint_[node_id] : -1; }

  // Visits the nodes of the source region from `last` down.
  constexpr void run(int last) {
    std::uint16_t const outer_site = g->site;
    for (int at_node = last; at_node >= 0; --at_node) {
      node const n = (*g)[at_node];
      if (n.region != source_ || !wanted(at_node)) continue;
      if (n.op->kind == op_kind::region) {
        reverse_repeat(at_node);
        continue;
      }
      bool const several = g->has_results(at_node);
      if ((several ? first_adjoint(at_node) : adjoint(at_node)) < 0 || n.op->kind == op_kind::leaf || n.op->kind == op_kind::result) continue;
      if (n.op->vjp == nullptr) {
        if (g->no_gradient.op == nullptr) g->no_gradient = {n.op, n.info};
        continue;
      }
      id = at_node;
      g->site = n.site;
      gradients.clear();
      for (int k = 0; several && k < n.op->results; ++k) gradients.push_back(adjoint_of(at_node + 1 + k));
      gradient = several ? adjoint_of(first_adjoint(at_node)) : var{g, adjoint(at_node)};
      if (!several && n.op->kind != op_kind::view && n.op != &cast_info) gradient = cast(gradient, n.info.type);
      given_ = 0;
      n.op->vjp(*this);
      bool expected = false;
      for (int k = 0; k < n.inputs; ++k) expected = expected || wanted(g->input(n, k));
      if (expected && given_ == 0) throw invalid("a gradient rule gave no gradient at all. FIX: c.accumulate(k, ...) in the op's vjp; or a null vjp where there is none");
    }
    g->site = outer_site;
  }

 private:
  // The first result of an op with several that has a gradient.
  constexpr int first_adjoint(int owner) const {
    for (int k = 0; k < (*g)[owner].op->results; ++k)
      if (adjoint(owner + 1 + k) >= 0) return owner + 1 + k;
    return -1;
  }
  constexpr var adjoint_of(int result) {
    if (adjoint(result) < 0) return {};
    return cast({g, adjoint(result)}, g->info(result).type);
  }
  constexpr var zeros(value_info const& info) const { return broadcast_to(constant(*g, info.type, 0), info.dims); }

  // Makes a forward value of the repeated block usable in its backward block.
  constexpr int bring(int node_id) {
    node const n = (*g)[node_id];
    if (n.op == &argument_info) {
      region const& body = g->regions[source_];
      int const k = argument_number(n.at);
      if (k >= body.carries) {
        int const outside = outer_->forward(g->input(body.owner, k)).id;
        return k < body.carries + body.invariants ? argument(invariants_, outside, n.info) : argument(stacked_, outside, n.info);
      }
      return stack(node_id);
    }
    if (is_kept(node_id) || is_rounded_residual(n)) return stack(node_id);
    vec<int> in{};
    for (int i = 0; i < n.inputs; ++i) in.push_back(forward(g->operands[n.first + i]).id);
    std::uint16_t const reader = g->site;
    g->site = n.site;
    int const again = g->emit(n.op, in.data(), n.inputs, n.at, n.info);
    if (g->has_results(again)) g->emit_results(again);
    g->site = reader;
    return again;
  }

  constexpr bool is_kept(int node_id) const {
    node const& n = (*g)[node_id];
    bool const again = node_id < again_->size() && (*again_)[node_id] != 0;
    return !again && !n.op->computed_again && is_residual(n.op->kind) && !outgrows_operands(n);
  }
  // A matrix for each of a batch that is larger than both it is the product of, as the scores of long texts are: its depth is less
  // than its extents, so that computing it again is little work.
  constexpr bool outgrows_operands(node const& n) const {
    return n.op->kind == op_kind::product && n.info.dims.rank > 2 && n.info.bytes() > g->info(g->input(n, 0)).bytes() + g->info(g->input(n, 1)).bytes();
  }
  constexpr bool is_rounded_residual(node const& n) const {
    if (n.op->kind != op_kind::elementwise || n.inputs != 1) return false;
    int const from = g->input(n, 0);
    return size_of(n.info.type) < size_of(g->info(from).type) && (is_kept(from) || is_biased_product(from));
  }
  // The sum of a product and a bias, which mixed precision rounds once: passes/mixed.hpp.
  constexpr bool is_biased_product(int node_id) const {
    if ((*g)[node_id].op != &add_info) return false;
    int const product = g->input(node_id, 0);
    return (*g)[product].op->kind == op_kind::product && is_kept(product);
  }

  // The forward region hands the value out for each iteration; the backward region takes it in.
  constexpr int stack(int node_id) {
    value_info const one = g->info(node_id);
    int k = g->regions[source_].carries;
    while (k < g->regions[source_].results.size() && g->regions[source_].results[k] != node_id) ++k;  // an earlier gradient's, perhaps
    if (k == g->regions[source_].results.size()) g->regions[source_].results.push_back(node_id);
    value_info const all = stacked(one, g->regions[source_].iterations);
    int const owner = g->regions[source_].owner;
    int const inside = g->current;
    g->current = g->regions[source_].parent;
    int const outer_value = g->emit(&result_info, &owner, 1, of_result(k), all);
    g->current = inside;
    return argument(stacked_, outer_->forward(outer_value).id, one);
  }

  struct argument_list {
    vec<int> outside{};
    vec<int> inside{};
  };
  constexpr int argument(argument_list& list, int outside, value_info const& info) {
    attributes const at = of_argument(unnumbered + carries_.inside.size() + invariants_.inside.size() + stacked_.inside.size(), target_);
    list.outside.push_back(outside);
    list.inside.push_back(emit_leaf(*g, argument_info, info, at).id);
    return list.inside.back();
  }

  // What each iteration reads the same of: an invariant, or a number of the program, which is not handed in.
  struct same_in_each {
    int inside, outside;
  };

  constexpr void reverse_repeat(int repeat_node) {
    int const body_id = run_region((*g)[repeat_node].at);
    vec<int> seeds(g->regions[body_id].results.size(), -1);
    bool any = false;
    for (int r = repeat_node + 1; r < adjoint_.size(); ++r) {
      node const& n = (*g)[r];
      if (n.op != &result_info || g->input(r, 0) != repeat_node || adjoint_[r] < 0) continue;
      seeds[result_number(n.at)] = adjoint_[r];
      any = true;
    }
    if (!any) return;

    region const forward_body = g->regions[body_id];
    auto outer_input = [&](int k) { return g->input(repeat_node, k); };
    vec<same_in_each> same{};
    for (int k = forward_body.carries; k < forward_body.carries + forward_body.invariants; ++k)
      if (wanted(forward_body.arguments[k])) same.push_back({forward_body.arguments[k], outer_input(k)});
    vec<vec<int>> const numbers = numbers_read(*g);
    for (int number : numbers[body_id])
      if (wanted(number)) same.push_back({number, number});
    any = forward_body.carries > 0 || !same.empty();
    for (int argument_node : forward_body.arguments) any = any || wanted(argument_node);
    if (!any) return;  // what it reads of the leaves are integers
    int const back_id = g->regions.size();
    region back{};
    back.parent = target_;
    back.iterations = forward_body.iterations;
    back.of_ranks = forward_body.of_ranks;
    back.reversed = !forward_body.reversed;
    g->regions.push_back(back);
    reverse_walk inner(*g, active_, this, body_id, back_id);

    // Seeds are made outside; the body starts with them as carries or slices.
    vec<int> start{};
    for (int k = 0; k < forward_body.carries; ++k)
      start.push_back(seeds[k] >= 0 ? seeds[k] : zeros(gradient_info(g->info(forward_body.arguments[k]))).id);
    for (same_in_each const& s : same) start.push_back(zeros(gradient_info(g->info(s.inside))).id);
    g->current = back_id;
    int next = 0;
    for (int k = 0; k < forward_body.carries; ++k) {
      int const seed = inner.argument(inner.carries_, start[next++], gradient_info(g->info(forward_body.arguments[k])));
      inner.add(forward_body.results[k], {g, seed});
    }
    vec<int> sums{};  // running gradients
    for (same_in_each const& s : same) sums.push_back(inner.argument(inner.carries_, start[next++], gradient_info(g->info(s.inside))));
    for (int k = forward_body.carries; k < seeds.size(); ++k) {
      if (seeds[k] < 0) continue;
      int const slice = inner.argument(inner.stacked_, seeds[k], gradient_info(g->info(forward_body.results[k])));
      inner.add(forward_body.results[k], {g, slice});
    }
    inner.run(active_.size() - 1);  // a body inside this one may have gained results behind the node

    vec<int> results{};
    auto or_zero = [&](int argument_node) {
      int const a = inner.adjoint(argument_node);
      return a >= 0 ? a : inner.zeros(gradient_info(g->info(argument_node))).id;
    };
    for (int k = 0; k < forward_body.carries; ++k) results.push_back(or_zero(forward_body.arguments[k]));
    for (int k = 0; k < same.size(); ++k) results.push_back((var{g, sums[k]} + var{g, or_zero(same[k].inside)}).id);
    for (int k = forward_body.carries + forward_body.invariants; k < forward_body.arguments.size(); ++k)
      if (wanted(forward_body.arguments[k])) results.push_back(or_zero(forward_body.arguments[k]));
    g->current = target_;

    // Arguments are numbered now that all are known.
    region& finished = g->regions[back_id];
    finished.results = results;
    finished.carries = inner.carries_.inside.size();
    finished.invariants = inner.invariants_.inside.size();
    finished.stacked = inner.stacked_.inside.size();
    vec<int> inputs{};
    for (argument_list const* list : {&inner.carries_, &inner.invariants_, &inner.stacked_}) {
      for (int i = 0; i < list->inside.size(); ++i) {
        g->nodes[list->inside[i]].at = of_argument(inputs.size(), back_id);
        finished.arguments.push_back(list->inside[i]);
        inputs.push_back(list->outside[i]);
      }
    }
    int const owner = g->emit(&repeat_info, inputs.data(), inputs.size(), of_region(back_id), g->info(results[0]));
    g->regions[back_id].owner = owner;

    int produced = 0;
    auto deliver = [&](int outside, bool stack_all) {
      int const r = produced++;
      value_info info = g->info(results[r]);
      if (stack_all) info = stacked(info, forward_body.iterations);
      var const value{g, g->emit(&result_info, &owner, 1, of_result(r), info)};
      add(outside, value);
    };
    for (int k = 0; k < forward_body.carries; ++k) deliver(outer_input(k), false);
    for (same_in_each const& s : same) deliver(s.outside, false);
    for (int k = forward_body.carries + forward_body.invariants; k < forward_body.arguments.size(); ++k)
      if (wanted(forward_body.arguments[k])) deliver(outer_input(k), true);
  }

  static constexpr int unnumbered = 1 << 20;  // marks arguments until their final order is known

  vec<char> const& active_;
  reverse_walk* outer_;
  int source_;
  int target_;
  int given_ = 0;  // gradients that the rule at hand has given
  vec<char> const* again_;
  vec<int> adjoint_{};
  vec<int> mapped_{};
  argument_list carries_{};
  argument_list invariants_{};
  argument_list stacked_{};
};

}  // namespace detail

// Appends the gradients of a scalar with respect to leaves, all in the region that nodes go to; returns their ids, -1 where the loss does
// not depend on one. Nodes marked in `again` are not kept by repeated blocks. times: a number that all of them are multiplied by from the start; not valid: 1.
// An op without a gradient is noted in graph::no_gradient, which program<> reports with its name and shape.
constexpr vec<int> gradients(graph& g, int loss, vec<int> const& leaves, vec<char> const& again = {}, var times = {}) {
  if (g.info(loss).count() != 1 || !is_float(g.info(loss).type))
    throw invalid("a loss must be a floating-point scalar. FIX: reduce it, e.g. with mean(x)");
  g.when = step_phase::backward;
  vec<char> const active = detail::depends_on(g, leaves);
  detail::reverse_walk walk(g, active, nullptr, g.current, g.current);
  walk.compute_again(again);
  value_info const scalar = g.info(loss);  // a copy: the table of nodes grows
  walk.add(loss, broadcast_to(times.valid() ? cast(times, scalar.type) : constant(g, scalar.type, 1), scalar.dims));
  walk.run(loss);
  vec<int> out{};
  for (int leaf : leaves) {
    out.push_back(walk.adjoint(leaf));
    if (out.back() >= 0) out.back() = cast({&g, out.back()}, g.info(leaf).type).id;
  }
  return out;
}

}  // namespace tx
