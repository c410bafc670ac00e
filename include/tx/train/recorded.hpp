// What programs with gradients share: compiling within a budget of activations.
#pragma once

#include <tx/autodiff/recompute.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/step/function.hpp>
#include <tx/train/gradients.hpp>
#include <tx/train/options.hpp>

#include <limits>

namespace tx::detail {

// What the backward pass of a loss, the first result, computes again for about so many bytes of activations; -1: everything is kept that is worth it.
template <class Model>
constexpr recomputation recomputed_within(graph const& forward, std::int64_t activations) {
  if (activations < 0) return {};
  return choose_recomputed(forward, forward.outputs[0].value, parameter_leaves<Model>(forward), activations);
}

// Step::record(graph, target, activations), as a program within the step's budget.
template <class Step>
struct recorded_source {
  static constexpr exec::lowered lower(target const& to, exec::inspection* seen = nullptr) {
    constexpr step_options options = Step::options;
    if (seen != nullptr && options.activations >= 0) seen->graph_only = false;  // a budget is compared with plans
    for (std::int64_t wanted = options.activations < 0 ? -1 : std::numeric_limits<std::int64_t>::max();;) {
      graph g{};
      recomputation const again = Step::record(g, to, wanted);
      exec::lowered l = exec::compile(g, to, options.compile, seen);
      l.memory.recomputed_flops = again.flops;
      std::int64_t const over = l.memory.activations - options.activations;
      if (options.activations < 0 || over <= 0 || !again.more || wanted == 0) return l;
      wanted = again.kept > over ? again.kept - over : 0;  // that is an estimate, the plan is not
    }
  }
};

template <class Step, target const& To>
struct recorded_program : exec::program<recorded_source<Step>, To> {
  static_assert(sizeof(activations_fit<Step::options.activations, exec::program<recorded_source<Step>, To>::memory.activations>) > 0);
};

}  // namespace tx::detail
