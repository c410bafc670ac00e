// pipeline<N>: an option of a step for N ranks, of which each has some of the blocks of a repeat: the model's layers. The parts of a batch, accumulate<M>, go from rank to rank; a rank that has
// handed one on begins the next, and computes one part forward and one backward in turns (PipeDream-Flush: Narayanan et al., arXiv 2006.09503), so that no more than N parts are kept.
//
//   train_step<model, loss, adamw, accumulate<8>, pipeline<4>>                      4 ranks with a fourth of the blocks each
//   train_step<model, loss, adamw, accumulate<8>, pipeline<4>, data_parallel<2>>    8 ranks; two such rows, each with a batch of its own (core/rank_grid.hpp)
//   train_step<model, loss, adamw, accumulate<8>, pipeline<4>, tensor_parallel<2>>  8 ranks; each stage is two, which divide its products (tensor_parallel.hpp)
//
//   time     0   1   2   3   4   5   6   7   8   9       of 2 ranks and 4 parts: F forward, B backward, a time is one or the other
//   rank 0   F0      F1  B0  F2  B1  F3  B2      B3
//   rank 1       F0  B0  F1  B1  F2  B2  F3  B3
//
// All ranks are given the same arguments, the whole batch, and get the same results. Which repeat it is, and what comes before and after it, is found while compiling (stages.hpp): the first rank
// computes what comes before the blocks, the last one what comes after. Random numbers are those of one rank with all blocks, so results differ by rounding alone. Of matrices of the blocks
// a rank keeps its own, with the optimizer's states of these; vectors, and parameters of what is not repeated, lie on all ranks, which add up their gradients.
//
// Errors: while compiling, a model without such a repeat, ranks that do not divide the blocks, states of a model, an optimizer that keeps less than a number for each element; a communicator
// of another number of ranks.
#pragma once

#include <tx/dist/all_reduce.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/gradient_facts.hpp>
#include <tx/dist/loop_of_turns.hpp>
#include <tx/dist/reduce_scatter.hpp>
#include <tx/dist/stages.hpp>
#include <tx/dist/swap_ranks.hpp>
#include <tx/dist/tensor_parallel.hpp>
#include <tx/expr/state_portions.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/pad.hpp>
#include <tx/ops/where.hpp>
#include <tx/passes/parts.hpp>
#include <tx/step/forward.hpp>

namespace tx {

template <int Ranks>
struct pipeline {
  static_assert(Ranks >= 1, "tx::pipeline: at least one rank. FIX: pipeline<2>");
};
template <int Ranks>
struct step_option<pipeline<Ranks>> {
  static constexpr void set(step_options& o) {
    static_assert(sizeof(pipeline<Ranks>) > 0);  // its own assertion, as in train/options.hpp
    o.stages = Ranks;
  }
};

namespace dist {

namespace detail {

// Writes the loop over times, in which each part of the batch is computed forward and backward.
template <class Model>
class pipelining {
  using loops = loop_of_turns;
  using facts = tx::detail::gradient_facts<Model>;

 public:
  constexpr pipelining(graph const& one, int ranks, int parts, facts const& of_gradients) : one_(one), ranks_(ranks), parts_(parts), facts_(of_gradients), of_(one, ranks) {}

  // Its outputs are those of the batch: results, and gradients of which a rank has those by the parameters that it keeps.
  constexpr graph run() {
    g_.take_program_facts(one_);
    g_.no_gradient = of_.no_gradient;
    if (g_.no_gradient.op != nullptr) return static_cast<graph&&>(g_);
    loop_.begin(2 * (parts_ + ranks_ - 1));
    for (int k = 0; k < of_.carries; ++k) {
      value_info const& first = of_.before.info(of_.before.outputs[k].value);
      came_.push_back(loop_.carry(first));                                     // from the rank before
      gradient_.push_back(loop_.carry(tx::detail::gradient_info(first)));      // from the rank behind
    }
    for (int k = 0; k < of_.results; ++k) results_.push_back(loop_.carry(one_.info(one_.outputs[k].value)));
    run_forward();
    run_backward();
    loop_.close();
    hand_out();
    return static_cast<graph&&>(g_);
  }

 private:
  static constexpr int last_time_of_first_rank(int ranks) { return 2 * ranks - 1; }
  constexpr turns forward_turns(int from = 0, int to = turns::unbounded) const { return {parts_, 0, 1, 2, from, to}; }
  constexpr turns backward_turns(int from = 0, int to = turns::unbounded) const { return {parts_, last_time_of_first_rank(ranks_), -1, 2, from, to}; }

  // A leaf of a part of the model that is none of its cuts: an argument, of which each iteration sees a part of the batch, or a parameter.
  constexpr int leaf_outside(node const& n, bool& stacked) {
    g_.current = 0;
    stacked = n.op == &input_info;
    return loop_.seen(stacked ? passes::argument_of_parts(g_, n, parts_) : emit_leaf(g_, *n.op, n.info, n.at).id);
  }
  // Of a parameter of the blocks, what this rank has.
  constexpr int own_parameter(int k) {
    block_parameter const& p = of_.parameters[k];
    layout_entry const& e = layout<Model>::entries[p.entry];
    g_.current = 0;
    if (p.divided) return emit_leaf(g_, block_info, p.part, of_block(0, e.offset)).id;
    return own_rows(emit_leaf(g_, parameter_info, e.info, of_parameter(e.offset, p.entry)), 0, {ranks_, across::stages}).id;
  }

  // Of blocks behind the repeat, which the last rank has, some of its part.
  constexpr int outside_after(node const& n, bool& stacked) {
    int const k = n.op == &parameter_info ? block_of({n.at, n.info}) : -1;
    if (k < 0 || !of_.parameters[k].divided) return leaf_outside(n, stacked);
    block_parameter const& p = of_.parameters[k];
    g_.current = 0;
    var const part{&g_, own_parameter(k)};
    return loop_.seen(reshape(slice(part, 0, first_block(p, n.at), static_cast<int>(n.info.count() / elements_of_block(p)), 1), n.info.dims).id);
  }
  constexpr std::int64_t elements_of_block(block_parameter const& p) const { return p.part.count() / of_.each(); }
  // Of such, among the last rank's.
  constexpr int first_block(block_parameter const& p, attributes const& at) const {
    layout_entry const& e = layout<Model>::entries[p.entry];
    auto const first = (parameter_first(at) - e.offset) / (e.info.count() / e.info.dims.dim[0]) - std::int64_t{ranks_ - 1} * of_.each();
    if (first < 0) throw invalid("pipeline: blocks behind a repeat are those of several ranks. FIX: fewer ranks, or peel::none");
    return static_cast<int>(first);
  }

  // ---- sums of gradients -----------------------------------------------------------------------------------------------

  struct sum {
    int cut = -1;        // a parameter of the blocks, of which a rank has its part
    leaf_of_all leaf{};  // else a parameter, whole
    int carry = -1;
  };
  constexpr int sum_of(int cut, leaf_of_all const& leaf, value_info const& info) {
    for (sum const& s : sums_)
      if (s.cut == cut && (cut >= 0 || s.leaf == leaf)) return s.carry;
    sums_.push_back({cut, leaf, loop_.carry(info)});
    return sums_.back().carry;
  }
  constexpr int sum_of(leaf_of_all const& leaf) { return sum_of(-1, leaf, leaf.info); }

  // ---- a part forward --------------------------------------------------------------------------------------------------

  constexpr void run_forward() {
    run_beside();
    {
      loops::turn t(loop_, of_.before, forward_turns(0, 0), parts_);
      for (int k = 0; k < of_.carries; ++k) t.carry(came_[k]);
      t.hand_in([&](node const& n, bool& stacked) { return leaf_outside(n, stacked); });
      for (int k = 0; k < of_.carries; ++k) t.becomes(t.value(k));
      t.close();
    }
    vec<int> gives{};
    for (int k = 0; k < of_.carries; ++k) gives.push_back(loop_.carry(of_.before.info(of_.before.outputs[k].value)));
    {
      slots_ = parts_ < ranks_ ? parts_ : ranks_;
      loops::turn t(loop_, of_.forward, forward_turns(), slots_);
      for (int k : gives) t.carry(k);
      t.hand_in([&](node const& n, bool& stacked) { return outside_of_blocks(n, stacked); });
      for (int k = 0; k < of_.carries; ++k) t.becomes(t.value(k));
      for (int k = 0; k < of_.saved.size(); ++k) t.stacks(t.value(of_.carries + k));
      kept_ = t.close();
    }
    vec<int> after_sums{};
    for (leaf_of_all const& leaf : of_.after_leaves) after_sums.push_back(sum_of(leaf));
    {
      loops::turn t(loop_, of_.after, forward_turns(ranks_ - 1), parts_);
      vec<int> told{}, sums{};
      for (int k : results_) told.push_back(t.carry(k));
      for (int k : gradient_) t.carry(k);
      for (int k : after_sums) sums.push_back(t.carry(k));
      t.hand_in([&](node const& n, bool& stacked) {
        int const cut = cut_number(n);
        return cut >= 0 ? loop_.now(gives[cut]) : outside_after(n, stacked);
      });
      for (int k = 0; k < told.size(); ++k) t.becomes((var{&g_, told[k]} + var{&g_, t.value(k)}).id);
      for (int k = 0; k < of_.carries; ++k) t.becomes(t.value(of_.results + k));
      for (int k = 0; k < sums.size(); ++k) t.adds(sums[k], t.value(of_.results + of_.carries + k));
      t.close();
    }
    swap({turns::unbounded, 0, 1, 2, 0, ranks_ - 2}, 1, gives, gradient_);
  }

  // Values that blocks read beside what they hand on, of a part of the batch: carries, as each rank computes them for the part that it is at.
  constexpr void run_beside() {
    if (of_.beside.outputs.empty()) return;
    for (output const& o : of_.beside.outputs) beside_.push_back(loop_.carry(of_.beside.info(o.value)));
    loops::turn t(loop_, of_.beside, forward_turns(), parts_);
    for (int k : beside_) t.carry(k);
    t.hand_in([&](node const& n, bool& stacked) { return leaf_outside(n, stacked); });
    for (int k = 0; k < beside_.size(); ++k) t.becomes(t.value(k));
    t.close();
  }
  constexpr int outside_of_blocks(node const& n, bool& stacked) {
    int const cut = cut_number(n);
    if (cut < 0) return leaf_outside(n, stacked);
    if (of_.is_parameter(cut)) return loop_.seen(own_parameter(cut - of_.cut_of_parameter(0)));
    return cut < of_.carries ? loop_.now(came_[cut]) : loop_.now(beside_[cut - of_.carries]);
  }

  // Two neighbours exchange: what this rank has made for the other's.
  constexpr void swap(turns when, int step, vec<int> const& given, vec<int> const& taken) {
    if (ranks_ == 1) return;
    for (int k = 0; k < given.size(); ++k) {
      int const value = loop_.now(given[k]);
      value_info const on_the_way = tx::detail::gradient_info(g_.info(value));
      graph one{};
      var const there = swap_ranks(cast(var{&one, emit_cut(one, 0, g_.info(value))}, on_the_way.type), step, across::stages);
      one.take_program_facts(one_);
      one.outputs.push_back({cast(there, g_.info(loop_.now(taken[k])).type).id, output_kind::result, -1});
      loops::turn t(loop_, one, when, 1);
      t.carry(taken[k]);
      t.hand_in([&](node const&, bool&) { return value; });
      t.becomes(t.value(0));
      t.close();
    }
  }

  // ---- a part backward -------------------------------------------------------------------------------------------------

  constexpr void run_backward() {
    vec<int> back{}, back_beside{};  // gradients by what the blocks began with, and by values beside
    for (int k = 0; k < of_.carries; ++k) back.push_back(loop_.carry(g_.info(loop_.now(gradient_[k]))));
    for (int k = 0; k < of_.values_beside(); ++k) back_beside.push_back(by_value_beside(k) ? loop_.carry(tx::detail::gradient_info(of_.beside.info(of_.beside.outputs[k].value))) : -1);
    vec<int> of_output{};  // gradient -> the carry that it becomes, or is added to
    for (auto const& by : of_.backward_by) {
      if (by.cut < 0) of_output.push_back(sum_of(by.leaf));
      else if (by.cut < of_.carries) of_output.push_back(back[by.cut]);
      else if (!of_.is_parameter(by.cut)) of_output.push_back(back_beside[by.cut - of_.carries]);
      else of_output.push_back(sum_of(by.cut, {}, of_.parameters[by.cut - of_.cut_of_parameter(0)].part));
    }
    {
      loops::turn t(loop_, of_.backward, backward_turns(), slots_);
      vec<int> inside{};
      for (int k : of_output) inside.push_back(t.carry(k));
      t.hand_in([&](node const& n, bool& stacked) {
        int const cut = cut_number(n);
        for (int k = 0; k < of_.saved.size(); ++k)
          if (of_.saved[k] == cut) return stacked = true, kept_[k];
        if (cut >= of_.cut_of_gradient(0) && cut < of_.cut_of_parameter(0)) return loop_.now(gradient_[cut - of_.cut_of_gradient(0)]);
        return outside_of_blocks(n, stacked);
      });
      for (int k = 0; k < inside.size(); ++k) {
        auto const& by = of_.backward_by[k];
        bool const replaces = by.cut >= 0 && !of_.is_parameter(by.cut);
        if (replaces) t.becomes(cast(var{&g_, t.value(k)}, g_.info(inside[k]).type).id);
        else t.adds(inside[k], t.value(k));
      }
      t.close();
    }
    run_back(of_.beside_back, of_.beside_leaves, backward_turns(), back_beside, of_.carries);
    run_back(of_.before_back, of_.before_leaves, backward_turns(0, 0), back, 0);
    swap({turns::unbounded, -1, 1, 2, 1, ranks_ - 1}, -1, back, came_);
  }
  constexpr bool by_value_beside(int k) const {
    for (auto const& by : of_.backward_by)
      if (by.cut == of_.cut_beside(k)) return true;
    return false;
  }
  // What comes before the blocks, or beside them, and back: from the gradients by what they read of it.
  constexpr void run_back(graph const& part, vec<leaf_of_all> const& leaves, turns when, vec<int> const& gradients, int first_cut) {
    if (leaves.empty()) return;
    vec<int> sums{};
    for (leaf_of_all const& leaf : leaves) sums.push_back(sum_of(leaf));
    loops::turn t(loop_, part, when, parts_);
    vec<int> inside{};
    for (int k : sums) inside.push_back(t.carry(k));
    t.hand_in([&](node const& n, bool& stacked) {
      int const cut = cut_number(n);
      return cut >= 0 ? loop_.now(gradients[cut - of_.cut_of_gradient(first_cut)]) : leaf_outside(n, stacked);
    });
    for (int k = 0; k < inside.size(); ++k) t.adds(inside[k], t.value(k));
    t.close();
  }

  // ---- outputs ---------------------------------------------------------------------------------------------------------

  constexpr void hand_out() {
    g_.when = step_phase::forward;
    for (int k = 0; k < of_.results; ++k) {
      var const told = all_reduce(loop_.after_all(results_[k]), across::stages) * (1.0 / parts_);  // only the last rank's is not zero
      g_.outputs.push_back({told.id, output_kind::result, -1});
    }
    g_.when = step_phase::update;
    for (int k = 0; k < of_.parameters.size(); ++k) hand_out_gradient(k);
    for (sum const& s : sums_) {
      if (s.cut >= 0 || block_of(s.leaf) >= 0) continue;
      var const gradient = all_reduce(loop_.after_all(s.carry), across::stages) * (1.0 / parts_);
      value_info const whole = facts_.whole(s.leaf.info, parameter_entry(s.leaf.at), across::products);
      g_.outputs.push_back({gradient.id, output_kind::gradient, emit_leaf(g_, parameter_info, whole, s.leaf.at).id});
    }
  }
  // Of which parameter of the blocks a leaf is some: of blocks behind the repeat. -1: it is of none.
  constexpr int block_of(leaf_of_all const& leaf) const {
    for (int k = 0; k < of_.parameters.size(); ++k)
      if (of_.parameters[k].entry == parameter_entry(leaf.at)) return k;
    return -1;
  }
  constexpr void hand_out_gradient(int k) {
    block_parameter const& p = of_.parameters[k];
    if (!p.trained) return;
    layout_entry const& e = layout<Model>::entries[p.entry];
    var own{};
    for (sum const& s : sums_)
      if (s.cut == of_.cut_of_parameter(k)) own = loop_.after_all(s.carry);
    int const all = e.info.dims.dim[0], behind = all - of_.blocks();
    if (behind > 0) own = with_blocks_behind(own, p, behind);
    if (!own.valid()) return;
    var const mean = own * (1.0 / parts_);
    var const gradient = p.divided ? mean : all_gather(mean, 0, {ranks_, across::stages}, all);
    g_.outputs.push_back({gradient.id, output_kind::gradient, emit_leaf(g_, parameter_info, e.info, of_parameter(e.offset, p.entry)).id});
  }
  // The last ranks have blocks that are not repeated: those have the gradients that what comes after found.
  constexpr var with_blocks_behind(var own, block_parameter const& p, int behind) {
    layout_entry const& e = layout<Model>::entries[p.entry];
    g_.current = 0;
    value_info const part{e.info.type, p.part.dims};
    var others{};
    for (sum const& s : sums_) {
      if (s.cut >= 0 || parameter_entry(s.leaf.at) != p.entry) continue;
      int const first = first_block(p, s.leaf.at);
      shape dims = part.dims;
      dims.set(0, static_cast<int>(s.leaf.info.count() / elements_of_block(p)));
      var const found = reshape(loop_.after_all(s.carry), dims);
      var const placed = dims.dim[0] == 1 && behind == 1 ? broadcast_to(found, part.dims) : pad(found, 0, first, 1, of_.each());
      others = others.valid() ? others + placed : placed;
    }
    var const nothing = broadcast_to(constant(g_, part.type, 0), part.dims);
    if (!own.valid() && !others.valid()) return {};
    if (!own.valid()) own = nothing;
    if (!others.valid()) others = nothing;
    shape rows = part.dims;
    for (int a = 1; a < rows.rank; ++a) rows.set(a, 1);
    var const number = reshape(own_rows(iota(g_, extents(ranks_ * of_.each()), 0), 0, {ranks_, across::stages}), rows);
    var const repeated = emit(less_info, {number, broadcast_to(constant(g_, dtype::i32, of_.blocks()), rows)});
    return emit(where_info, {broadcast_to(repeated, part.dims), own, others});
  }

  graph const& one_;
  int ranks_, parts_;
  facts const& facts_;
  stages<Model> of_;
  graph g_{};
  loops loop_{g_};
  int slots_ = 1;  // parts that are kept at a time
  vec<int> came_{}, gradient_{}, results_{}, kept_{}, beside_{};
  vec<sum> sums_{};
};

}  // namespace detail

// From `one`, the recorded loss of a part of the batch, the graph of a rank that has some of its blocks: outputs are those of the batch. facts: of what ranks divide, where they divide products too.
template <class Model>
constexpr graph pipelined(graph const& one, int ranks, int parts, tx::detail::gradient_facts<Model> const& facts = tx::detail::gradient_facts<Model>(0)) {
  passes::check_results_of_parts(one);
  for (node const& n : one.nodes)
    if (n.op->kind == op_kind::collective && tx::detail::across_of(n.at) != across::products) throw invalid("pipeline: the model speaks to other ranks itself, which come to that at different times. FIX: a loss without collectives");
  for (output const& o : one.outputs)
    if (o.kind == output_kind::assign) throw invalid("pipeline: the model has a state, which goes through the parts of a batch in order, and ranks are at different ones. FIX: a model without states, or the step without tx::pipeline");
  return detail::pipelining<Model>(one, ranks, parts, facts).run();
}

// Of each entry of a model's layout whether a rank keeps its blocks alone. of_products: what tensor_parallel beside it leaves a rank.
template <class Model, auto F>
constexpr auto blocks_kept(step_options const& options, state_kinds const& of_products) {
  fixed<signed char, layout<Model>::entries.size() + 1> axes{};
  for (int k = 0; k < layout<Model>::entries.size(); ++k) axes[k] = portioning::none;
  graph g{};
  tx::detail::record_forward<Model, F>(g, options);
  divide_products(g, options.tensor_ranks);
  use_portions(g, tx::detail::gradient_facts<Model>(of_products));
  for (detail::block_parameter const& p : detail::stages<Model>(g, options.stages).parameters)
    if (p.divided) axes[p.entry] = portioning::blocks;
  return axes;
}

}  // namespace dist

}  // namespace tx
