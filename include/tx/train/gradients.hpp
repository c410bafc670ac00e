// The gradients of a step while it is recorded: outputs of the graph, one for each parameter that is trained and that the loss depends on, until
// the update makes use of them. What follows differentiation (sums over parts and shards, clipping, the update) is a pass over these.
//
//   outputs  loss, gradient by w [12, 8, 8], gradient by b [8], gradient by c [8]
//   gathered loss, gradient by w, gradient by rows [1, 1024] of the flat block, in which b and c lie
#pragma once

#include <tx/autodiff/reverse.hpp>
#include <tx/dist/own_rows.hpp>
#include <tx/expr/overlapping_leaves.hpp>
#include <tx/expr/parameter_layout.hpp>
#include <tx/ops/gather_all.hpp>
#include <tx/ops/slice.hpp>

namespace tx::detail {

// The parameters that are trained.
template <class Model>
constexpr vec<int> parameter_leaves(graph const& g) {
  vec<int> leaves{};
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == &parameter_info && layout<Model>::trains(layout<Model>::entries[parameter_entry(g[i].at)])) leaves.push_back(i);
  return leaves;
}

constexpr void no_parameter(graph const& g) {
  if (g.no_gradient.op == nullptr) throw invalid("the loss depends on no parameter that is trained. FIX: use the model it is given, by ops with a gradient, which comparisons, argmax and integers have not; of several results the loss is the first");
}

// Gradients of the first result, times a number perhaps, become outputs.
template <class Model>
constexpr void differentiate(graph& g, vec<char> const& again, var times = {}) {
  vec<int> const leaves = parameter_leaves<Model>(g);
  vec<int> const found = gradients(g, g.outputs[0].value, leaves, again, times);
  vec<int> trained{};
  for (int k = 0; k < leaves.size(); ++k) {
    if (found[k] < 0) continue;
    g.outputs.push_back({found[k], output_kind::gradient, leaves[k]});
    trained.push_back(leaves[k]);
  }
  if (trained.size() == 0) no_parameter(g);
  refuse_overlapping(g, trained);
}

// Calls use(gradient, leaf) for each, and puts what it returns in the gradient's place.
template <class Use>
constexpr void for_each_gradient(graph& g, Use use) {
  for (int k = 0; k < g.outputs.size(); ++k) {
    if (g.outputs[k].kind != output_kind::gradient) continue;
    int const next = use(var{&g, g.outputs[k].value}, g.outputs[k].target).id;
    g.outputs[k].value = next;
  }
}

// Of each gradient what this rank keeps among those.
template <class Facts>
constexpr void keep_own_rows(graph& g, Facts const& facts, across which) {
  g.when = step_phase::update;
  for_each_gradient(g, [&](var gradient, int target) {
    auto const portion = facts.of_state(g[target], which);
    return portion ? own_rows(gradient, portion.axis, portion.ranks) : gradient;
  });
}

// Gradients as one flat block of rows of block_row elements; first[k]: where number k starts.
constexpr var flat_gradient(graph& g, vec<int> const& ids, vec<std::int64_t> const& first, std::int64_t count) {
  attributes const at = of_gathered(g.numbers.size(), static_cast<int>(count / block_row));
  for (std::int64_t f : first) g.numbers.push_back(f);
  return {&g, g.emit(&gather_all_info, ids.data(), ids.size(), at)};
}

// Elements of a flat block [rows, block_row] from `first` on, as dims.
constexpr var part_of_flat(var flat, std::int64_t first, shape dims) {
  if (dims.rank == 2 && dims.dim[1] == block_row && first % block_row == 0) return slice(flat, 0, static_cast<int>(first / block_row), dims.dim[0], 1);
  var const line = reshape(flat, shape{1, {}, {static_cast<int>(flat.info().count())}});
  return reshape(slice(line, 0, static_cast<int>(first), static_cast<int>(dims.count()), 1), dims);
}

// The rows of the flat block in which a group of parameters lies.
constexpr var rows_of_group(graph& g, layout_group const& group, dtype type) {
  shape const rows{2, {}, {static_cast<int>(group.count / block_row), block_row}};
  return emit_leaf(g, block_info, {type, rows}, of_block(0, group.first));
}

// In a list of outputs the gradients of each group for which wanted(k) holds become one, of its rows; a group without any has none.
template <class Model, class Wanted>
constexpr vec<output> gathered(graph& g, vec<output> const& all, Wanted const& wanted) {
  vec<output> list{};
  vec<vec<int>> ids(layout<Model>::groups.size());
  vec<vec<std::int64_t>> first(layout<Model>::groups.size());
  for (output const& o : all) {
    bool const single = o.kind == output_kind::gradient && g[o.target].op == &parameter_info;
    int const k = single ? layout<Model>::entries[parameter_entry(g[o.target].at)].group : -1;
    if (k < 0 || !wanted(k)) {
      list.push_back(o);
      continue;
    }
    ids[k].push_back(o.value);
    first[k].push_back(parameter_first(g[o.target].at) - layout<Model>::groups[k].first);
  }
  for (int k = 0; k < ids.size(); ++k) {
    if (ids[k].empty()) continue;
    layout_group const& group = layout<Model>::groups[k];
    g.when = step_phase::update;
    list.push_back({flat_gradient(g, ids[k], first[k], group.count).id, output_kind::gradient, rows_of_group(g, group, layout<Model>::type).id});
  }
  return list;
}

}  // namespace tx::detail
