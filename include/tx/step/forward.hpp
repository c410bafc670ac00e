// The beginning of every program: what its model computes, before anything is differentiated. The list of passes over it is here; train_step, value_and_grad
// and function go on, each in its own way.
#pragma once

#include <tx/expr/trace.hpp>
#include <tx/passes/mixed.hpp>
#include <tx/passes/narrow.hpp>
#include <tx/step/options.hpp>

namespace tx::detail {

template <class Model, auto F>
constexpr void record_forward(graph& g, step_options const& options) {
  trace<Model, F>(g);
  g = passes::narrow(g);
  if (options.mixes) g = passes::mixed(g, options.half);
}

}  // namespace tx::detail
