// state<Tensor, Init>: a tensor of a model that is not trained and lives from run to run, as running statistics or what has been read so far.
//
//   struct counted {
//     tx::state<tx::tensor<float>> seen;                        // zero at first
//     constexpr auto operator()(auto const& x) const {
//       seen.set(seen + tx::sum(x));                            // what the next run reads
//       return x / seen;                                        // this run reads what there was before it
//     }
//   };
//
// It lies beside the parameters: it has a name as they have, programs of one model share it, files and checkpoints hold it. A run reads what
// was there when it began and stores what set() was given when it ends; set to nothing, it stays. No gradient goes through it from run to
// run. A run that trains on shards of a batch stores their mean, one in parts goes through the parts in order.
// executor::reset_state() brings the first values back.
// Errors, while compiling: another shape or type, set twice in a program, set in the body of a scan.
#pragma once

#include <tx/expr/param.hpp>

namespace tx {

// The group of all states: executor::settings know it, and nothing trains it.
struct kept {
  static constexpr float rate = 0.0f;
  static constexpr float decay = 0.0f;
  static constexpr bool trained = false;
};

namespace detail {
// Is it handed to the body of a scan as it is, the same in each iteration? A state of repeated blocks is handed in as slices.
constexpr bool is_invariant(graph const& g, int id) {
  if (g[id].op != &argument_info) return false;
  region const& body = g.regions[g[id].region];
  int k = 0;
  while (body.arguments[k] != id) ++k;
  return k >= body.carries + body.stacked;
}

// Of a state as the region sees it that nodes go to.
constexpr void change_state(graph& g, int state, int value) {
  if (g[state].region != g.current || is_invariant(g, state))
    throw invalid("state: it is set in the body of a scan, which runs more than once. FIX: hand it through the scan as a carry, and set it to the last one");
  for (state_change const& c : g.changes)
    if (c.state == state) throw invalid("state: a program sets it twice. FIX: set it once, to the last value; a module that is called twice has one state, so call it once on both, or have two modules");
  g.changes.push_back({state, value});
}
}  // namespace detail

template <class Tensor, class Init = init::zeros>
struct state : param<Tensor, Init, kept> {
  using parameter_type = state;
  static constexpr bool is_state = true;

  template <typed_handle X>
  constexpr void set(X const& next) const {
    static_assert(X::info == Tensor::info,
                  "tx::state: it is set to a tensor of another element type or shape. FIX: cast or reshape what it is given");
    detail::change_state(*next.g, this->id, next.id);
  }
};

template <class P>
concept state_like = requires { requires P::is_state; };

// Is what is being recorded a program that trains? For layers that do something else then, as dropout and batch_norm do.
template <handle X>
constexpr bool in_training(X const& x) {
  if (x.g == nullptr) throw invalid("in_training: a result of a run is a view of numbers, not a part of a graph. FIX: pass a tensor of what is being recorded");
  return x.g->training;
}

}  // namespace tx
