// dropout(x): each element is 0 with the step's dropout rate, else x / (1 - rate). Inference records nothing.
#pragma once

#include <tx/expr/scalar.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/random.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
struct dropout_fn {
  constexpr var operator()(var x) const {
    if (!x.g->training) return x;
    var const rate = run_time_scalar(*x.g, scalar::dropout);
    var const u = uniform(*x.g, x.dims(), x.g->random_streams++);
    return where(less(u, rate), 0.0, x * cast(1.0 / (1.0 - rate), x.type()));
  }
};
}  // namespace detail

template <handle X>
constexpr auto dropout(X const& x) {
  return lift<detail::dropout_fn>(x);
}

}  // namespace tx
