// inference(f)(x...): what f(x...) records, recorded as a function for inference is, whatever the program around it: dropout does
// nothing there. A teacher, or the network that gives targets:
//
//   auto const wanted = tx::stop_gradient(tx::inference(m.teacher)(ids));
#pragma once

#include <tx/expr/tensor.hpp>

namespace tx {

namespace detail {
class without_training {
 public:
  constexpr explicit without_training(graph& g) : g_(g), before_(g.training) { g_.training = false; }
  without_training(without_training const&) = delete;
  without_training& operator=(without_training const&) = delete;
  constexpr ~without_training() { g_.training = before_; }

 private:
  graph& g_;
  bool before_;
};
}  // namespace detail

// F: what is called, or a reference to it where that lives longer.
template <class F>
struct inference {
  F f;
  constexpr explicit inference(F&& callable) : f(static_cast<F&&>(callable)) {}

  // At least one of the arguments is a tensor.
  template <class... A>
    requires(handle<A> || ...)
  constexpr auto operator()(A const&... a) const {
    graph* g = nullptr;
    ([&] {
      if constexpr (handle<A>) g = g == nullptr ? a.g : g;
    }(), ...);
    if (g == nullptr) throw invalid("inference: a result of a run is a view of numbers, not a part of a graph. FIX: pass a tensor of what is being recorded");
    detail::without_training const scope(*g);
    return f(a...);
  }
};
template <class F>
inference(F&&) -> inference<F>;

}  // namespace tx
