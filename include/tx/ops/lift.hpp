// One rule, two front ends: a function on untyped handles serves typed ones, its result type read off a scratch graph.
#pragma once

#include <tx/expr/tensor.hpp>
#include <tx/ops/constant.hpp>
#include <tx/graph/leaf.hpp>

#include <tuple>

namespace tx {

namespace detail {

// A number has the element type of the tensor it meets: the last one that is not a condition.
template <class... A>
constexpr dtype weak_type() {
  dtype type = dtype::f32;
  ([&] {
    if constexpr (typed_handle<A>)
      if (A::info.type != dtype::boolean) type = A::info.type;
  }(), ...);
  return type;
}

template <class A>
constexpr var placeholder(graph& g, int position, dtype weak) {
  if constexpr (typed_handle<A>)
    return emit_leaf(g, input_info, A::info, of_input(position));
  else
    return constant(g, weak, 1.0);
}

// The shape rule, applied at compile time. An error in here names the op; the line that asks for it has the shapes.
template <class Fn, class... A, int... K>
constexpr value_info shape_of(std::integer_sequence<int, K...>) {
  graph g{};
  var const in[] = {placeholder<A>(g, K, weak_type<A...>())...};
  return Fn{}(in[K]...).info();
}

template <class A>
constexpr graph* graph_of(A const& a) {
  if constexpr (handle<A>)
    return a.g;
  else
    return nullptr;
}

// A graph holds numbers as f64: one that meets integers must be a number of their type, and one that f64 holds.
template <class A>
constexpr void check_integer(A a, dtype type) {
  auto const value = static_cast<double>(a);
  bool const within = -0x1p63 <= value && value < 0x1p63;
  auto const whole = static_cast<std::int64_t>(within ? value : 0);
  if (within && static_cast<double>(whole) != value)
    throw invalid("a fraction meets an integer tensor. FIX: cast<tx::f32>(...) the tensor first");
  if (type != dtype::i64 && (!within || !holds(type, whole)))
    throw invalid("a number meets integers of a type that does not hold it. FIX: cast<tx::i64>(...) the tensor first");
  if (!within || static_cast<A>(whole) != a)
    throw invalid("a number meets integers, and f64 does not hold it. FIX: pass it as an argument, a tensor<tx::i64>");
}

template <class A>
constexpr var untyped(A const& a, graph* g, dtype weak) {
  if constexpr (number<A>) {
    if (is_integer(weak)) check_integer(a, weak);
    return constant(*g, weak, static_cast<double>(a));
  } else {
    return a;
  }
}

}  // namespace detail

// Applies Fn, a function object on vars, to tensors, vars and numbers.
template <class Fn, class... A>
constexpr auto lift(A const&... a) {
  graph* g = nullptr;
  ((g = g == nullptr ? detail::graph_of(a) : g), ...);
  if constexpr ((std::same_as<A, var> || ...)) {
    dtype weak = dtype::f32;
    ([&] {
      if constexpr (handle<A>)
        if (var(a).type() != dtype::boolean) weak = var(a).type();
    }(), ...);
    return Fn{}(detail::untyped(a, g, weak)...);
  } else {
    if (g == nullptr) throw invalid("a result of a run is a view of numbers, not a part of a graph. FIX: float(x), or its elements x.data[i]");
    constexpr value_info info = detail::shape_of<Fn, A...>(std::make_integer_sequence<int, sizeof...(A)>{});
    constexpr dtype weak = detail::weak_type<A...>();
    var const r = Fn{}(detail::untyped(a, g, weak)...);
    return tensor_of<info>{r.g, r.id};
  }
}

}  // namespace tx
