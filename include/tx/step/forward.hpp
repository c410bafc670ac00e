// The beginning of every program: what its model computes, before anything is differentiated. The list of passes over it is here; train_step, value_and_grad
// and function go on, each in its own way. What they have in common once gradients are there, if any, stands here too.
#pragma once

#include <tx/expr/parameter_layout.hpp>
#include <tx/expr/state.hpp>
#include <tx/expr/trace.hpp>
#include <tx/passes/mixed.hpp>
#include <tx/passes/narrow.hpp>
#include <tx/passes/quarters.hpp>
#include <tx/step/options.hpp>

namespace tx::detail {

template <class Model, auto F>
constexpr void record_forward(graph& g, step_options const& options) {
  trace<Model, F>(g);
  g = passes::narrow(g);
  if (options.mixes) g = passes::mixed(g, options.half);
}

// A parameter of a model, trained or frozen, and no state of it.
template <class Model>
constexpr bool is_weight(node const& leaf) {
  if (leaf.op != &parameter_info) return true;  // what ranks divide is trained
  int const entry = parameter_entry(leaf.at);
  if constexpr (std::is_same_v<Model, no_model>) return false;
  else return entry >= 0 && layout<Model>::groups[layout<Model>::entries[entry].group].key != type_key<kept>();
}

// Behind the last gradient.
template <class Model>
constexpr void record_quarters(graph& g, step_options const& options) {
  if (options.quarters) g = passes::quarters(g, is_weight<Model>);
}

}  // namespace tx::detail
