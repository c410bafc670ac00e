// The same program on the interpreted device backend and on the reference.
#pragma once

#include "../furthest.hpp"
#include "interpreter.hpp"

#include <tx/backends/reference.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <vector>

using values = std::vector<double>;

// Steps down the gradient, so that parameters show it.
struct descent {
  static constexpr int states = 0;
  static constexpr tx::var update(tx::update_context& u) { return u.parameter - u.gradient; }
};

// What some runs hand back, and the parameters after them.
template <class Step, class Backend, class... In>
values outcome(int runs, std::vector<In> const&... in) {
  tx::executor<Step, Backend> run{tx::seed(3)};
  values all;
  for (int i = 0; i < runs; ++i) {
    auto r = run(in...);
    tx::for_each_result(r, [&](auto const& t) {
      for (auto x : tx::elements_of(t)) {
        if constexpr (requires { x.widen(); }) all.push_back(static_cast<double>(x.widen()));
        else all.push_back(static_cast<double>(x));
      }
    });
  }
  for (auto x : run.read()) all.push_back(static_cast<double>(x));
  return all;
}

// The reference computes nested reductions anew for each element: it is given the program one op at a time.
inline constexpr tx::compile_options unfused{.fuse = false};
template <class Step>
struct one_by_one;
template <auto F, class Model, class... Options>
struct one_by_one<tx::function<F, Model, Options...>> {
  using type = tx::function<F, Model, Options..., tx::compiled_with<unfused>>;
};
template <class Model, auto Loss, class Optimizer, class... Options>
struct one_by_one<tx::train_step<Model, Loss, Optimizer, Options...>> {
  using type = tx::train_step<Model, Loss, Optimizer, Options..., tx::compiled_with<unfused>>;
};

template <class Step, class... In>
double distance_from_reference(int runs, std::vector<In> const&... in) {
  return distance(outcome<Step, interpreted>(runs, in...), outcome<typename one_by_one<Step>::type, tx::reference>(runs, in...));
}

template <class T>
std::vector<T> numbers(std::size_t count, T low, T high) {
  std::vector<T> v(count);
  std::uint32_t state = 12345;
  for (T& x : v) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<T>(low + static_cast<double>(state >> 8) * 0x1p-24 * static_cast<double>(high - low));
  }
  return v;
}
