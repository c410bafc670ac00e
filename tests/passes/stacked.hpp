// A stack of layers, and a stack of stacks, whose training steps are recorded: what tests of passes over loops look at.
#pragma once

#include "../interpreter/passes.hpp"

#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/train/step.hpp>

namespace stacked {

using namespace tx;

constexpr int layers = 5, width = 12;

struct block {
  nn::linear<width, width> inner;
  constexpr auto operator()(auto const& x) const { return x + tanh(inner(x)); }
};
struct net {
  repeat<layers, block> layer;
};
struct nested_block {
  repeat<2, block> inner;
  constexpr auto operator()(auto const& x) const { return inner(x); }
};
struct nested {
  repeat<layers, nested_block> layer;
};
constexpr auto loss = [](auto const& m, tensor<float, 8, width> x) {
  auto const y = m.layer(x);
  return mean(y * y);
};
template <class Model, class Optimizer, class... Options>
graph recorded() {
  graph g;
  train_step<Model, loss, Optimizer, Options...>::record(g);
  return at_run_time::simplified(g);
}

}  // namespace stacked
