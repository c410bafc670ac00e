// The gradient's norm, and clipping it (Pascanu, Mikolov, Bengio, arXiv 1211.5063): g becomes g min(1, clip_norm / (norm + 1e-6)).
//
//   before   gradients g, h
//   after    n = sqrt(sum(g * g) + sum(h * h)), s = min(clip_norm / (n + 1e-6), 1); gradients g * s, h * s
#pragma once

#include <tx/expr/setting.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/gradients.hpp>

#include <utility>

namespace tx::detail {

// Of all gradients together.
constexpr var norm_of_gradients(graph& g) {
  g.when = step_phase::update;
  // In the order of the parameters, whatever has been gathered when: sums of three depend on it.
  vec<int> order{};
  auto const first = [&](int k) { return first_updated(g[g.outputs[k].target]); };
  for (int k = 0; k < g.outputs.size(); ++k) {
    if (g.outputs[k].kind != output_kind::gradient) continue;
    order.push_back(k);
    for (int i = order.size() - 1; i > 0 && first(order[i]) < first(order[i - 1]); --i) std::swap(order[i], order[i - 1]);
  }
  var squares{};
  for (int k : order) {
    var const gradient{&g, g.outputs[k].value};
    var const own = sum_all(gradient * gradient);
    squares = squares.valid() ? squares + own : own;
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
