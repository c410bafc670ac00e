// The gradient's norm, and clipping it (Pascanu, Mikolov, Bengio, arXiv 1211.5063): g becomes g min(1, clip_norm / (norm + 1e-6)).
//
//   before   gradients g, h
//   after    n = sqrt(sum(g * g) + sum(h * h)), s = min(clip_norm / (n + 1e-6), 1); gradients g * s, h * s
#pragma once

#include <tx/dist/gradient_facts.hpp>
#include <tx/dist/over_ranks.hpp>
#include <tx/dist/reduce_scatter.hpp>
#include <tx/expr/setting.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/gradients.hpp>

#include <utility>

namespace tx::detail {

// The sum of the squares of a gradient that ranks have added up: row by row and then of the rows, in this order also where each of them has a portion of the rows. Of what ranks
// divide that divide the work of a batch it is that of this rank's portion.
template <class Facts>
constexpr var sum_of_squares_by_rows(var gradient, node const leaf, Facts const& facts) {
  var squares = gradient * gradient;
  int const last = gradient.dims().rank - 1;
  if (facts.own_rank(leaf) > 1) squares = sum(squares, &last, 1);
  if (auto const p = facts.of_state(leaf, across::batches); p && gradient.dims().dim[p.axis] < p.rows) squares = all_gather(squares, p.axis, p.ranks, p.rows);
  return sum_all(reshape(squares, extents(static_cast<int>(squares.info().count()))));
}

// Of all gradients together. by_rows: of ranks or shards, all divisions of which have the same bits.
template <class Facts>
constexpr var norm_of_gradients(graph& g, bool by_rows, Facts const& facts) {
  g.when = step_phase::update;
  // In the order of the parameters, whatever has been gathered when: sums of three depend on it.
  vec<int> order{};
  auto const first = [&](int k) { return first_updated(g[g.outputs[k].target]); };
  for (int k = 0; k < g.outputs.size(); ++k) {
    if (g.outputs[k].kind != output_kind::gradient) continue;
    order.push_back(k);
    for (int i = order.size() - 1; i > 0 && first(order[i]) < first(order[i - 1]); --i) std::swap(order[i], order[i - 1]);
  }
  var squares{};  // of gradients that all ranks of a batch have
  constexpr across dividing[] = {across::products, across::stages, across::work};
  var of_portions[3] = {};  // of those of which each of these ranks has what it keeps
  for (int k : order) {
    var const gradient{&g, g.outputs[k].value};
    node const leaf = g[g.outputs[k].target];
    var const own = by_rows ? sum_of_squares_by_rows(gradient, leaf, facts) : sum_all(gradient * gradient);
    bool const of_products(facts.of_parameter(leaf, across::products)), of_stages(facts.of_parameter(leaf, across::stages));
    var& sum = of_products && of_stages ? of_portions[2] : of_stages ? of_portions[1] : of_products ? of_portions[0] : squares;
    sum = sum.valid() ? sum + own : own;
  }
  for (int k = 0; k < 3; ++k) {
    if (!of_portions[k].valid()) continue;
    var const all = sum_over_ranks(of_portions[k], dividing[k]);
    squares = squares.valid() ? squares + all : all;
  }
  return sqrt(squares);
}

constexpr bool is_clip_norm(float norm) { return norm >= 0; }

constexpr void clip(graph& g, var norm) {
  var const most = named_number(g, declared_setting{"clip_norm", 1.0f, is_clip_norm, "at least 0; infinity leaves gradients as they are"});
  var const scale = minimum(cast(most, norm.type()) / (norm + 1e-6), 1.0);
  for_each_gradient(g, [&](var gradient, int) { return gradient * scale; });
}

}  // namespace tx::detail
