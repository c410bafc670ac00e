// dropout(x): each element is 0 with the rate run.settings["dropout"], 0.1 at first, else x / (1 - rate). dropout(x, rate): with a rate of its own, a number or
// a tensor without extents, such as an argument: there a rate below 0 counts as 0, one above 1 as 1, where nothing is left. [...] -> the same. Inference
// records nothing. The numbers are those of random.hpp.
#pragma once

#include <tx/expr/setting.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/greater_equal.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/random.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/where.hpp>

namespace tx {

namespace detail {
constexpr bool is_dropout_rate(float rate) { return rate >= 0 && rate < 1; }
// Of all that drops without a rate of its own.
constexpr var dropout_rate(graph& g) { return named_number(g, declared_setting{"dropout", 0.1f, is_dropout_rate, "at least 0, below 1"}); }

// u: random numbers of x's shape; rate and scale: what part is dropped, and what the others are multiplied with.
constexpr var dropped(var x, var u, var rate, var scale) { return where(less(u, rate), 0.0, x * cast(scale, x.type())); }
// What is kept is multiplied with: 1 / (1 - rate), and 0 where all is dropped, which neither a constant nor a setting of the run may say.
constexpr var dropout_scale(var rate) {
  var const scale = 1.0 / (1.0 - rate);
  if (double known = 0; is_constant(*rate.g, rate.id, known) || (*rate.g)[rate.id].op == &scalar_info) return scale;
  return where(greater_equal(rate, 1.0), 0.0, scale);
}

struct dropout_fn {
  constexpr var operator()(var x) const {
    if (!x.g->training) return x;
    var const rate = dropout_rate(*x.g);
    return drawn(x, rate);
  }
  constexpr var operator()(var x, var rate) const {
    if (rate.dims().rank != 0 || !is_float(rate.type())) throw invalid("dropout: the rate is one number, of f32 or f64. FIX: dropout(x, 0.1), or a tensor<float> without extents");
    if (!x.g->training) return x;
    rate = cast(rate, dtype::f32);
    if (double known = 0; !is_constant(*x.g, rate.id, known)) rate = maximum(rate, 0.0);
    return drawn(x, rate);
  }

 private:
  static constexpr var drawn(var x, var rate) { return dropped(x, uniform(*x.g, x.dims(), x.g->random_streams++), rate, dropout_scale(rate)); }
};

// A number is not rounded to x's type, which may be a half.
template <handle X, number R>
constexpr auto rate_beside(X const& x, R rate) {
  if (!(rate >= 0 && rate < 1)) throw invalid("dropout: a rate is at least 0 and below 1. FIX: 0.1 for a tenth of the elements");
  if (x.g == nullptr) throw invalid("a result of a run is a view of numbers, not a part of a graph. FIX: float(x), or its elements x.data[i]");
  return constant(*x.g, dtype::f32, static_cast<double>(rate));
}
}  // namespace detail

template <handle X>
constexpr auto dropout(X const& x) {
  return lift<detail::dropout_fn>(x);
}
template <handle X, handle R>
constexpr auto dropout(X const& x, R const& rate) {
  return lift<detail::dropout_fn>(x, rate);
}
template <handle X, number R>
constexpr auto dropout(X const& x, R rate) {
  var const r = detail::rate_beside(x, rate);
  if constexpr (typed_handle<X>) return lift<detail::dropout_fn>(x, tensor<f32>{r.g, r.id});
  else return lift<detail::dropout_fn>(x, r);
}

}  // namespace tx
