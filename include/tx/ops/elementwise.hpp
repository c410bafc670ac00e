// What elementwise ops share: numpy broadcasting, shape rules, folding. What a new op
// defines, and where: docs/adding.md; tanh.hpp is an example.
#pragma once

#include <tx/core/math.hpp>
#include <tx/ops/broadcast.hpp>

namespace tx {

namespace detail {

// Operands of equal type and shape give a result of the same.
constexpr value_info same_infer(value_info const* in, int count, attributes const&) {
  for (int i = 1; i < count; ++i) {
    if (in[i].type != in[0].type) throw invalid("element types differ. FIX: convert one side with cast<T>(x)");
    if (!(in[i].dims == in[0].dims)) throw invalid("shapes differ. FIX: broadcast_to the same extents");
  }
  return in[0];
}
constexpr value_info float_infer(value_info const* in, int count, attributes const& at) {
  if (!is_float(in[0].type)) throw invalid("this op needs floating-point elements. FIX: cast<tx::f32>(x) first");
  return same_infer(in, count, at);
}
constexpr value_info compare_infer(value_info const* in, int count, attributes const& at) {
  value_info out = same_infer(in, count, at);
  out.type = dtype::boolean;
  return out;
}

constexpr value_info number_infer(value_info const* in, int count, attributes const& at) {
  if (in[0].type == dtype::boolean) throw invalid("this op needs numbers, not bool. FIX: cast<tx::f32>(x) first");
  return same_infer(in, count, at);
}
constexpr value_info logical_infer(value_info const* in, int count, attributes const& at) {
  if (in[0].type != dtype::boolean) throw invalid("this op needs bool tensors. FIX: compare first, e.g. less(x, 0)");
  return same_infer(in, count, at);
}

template <class Rule, int Arity>
constexpr double fold_with(double const* in) {
  if constexpr (Arity == 1)
    return static_cast<double>(Rule::apply(in[0]));
  else if constexpr (Arity == 2)
    return static_cast<double>(Rule::apply(in[0], in[1]));
  else
    return static_cast<double>(Rule::apply(in[0] != 0, in[1], in[2]));
}

}  // namespace detail

// Shape rules, for ops outside the tree too.
using detail::compare_infer;
using detail::float_infer;
using detail::logical_infer;
using detail::number_infer;
using detail::same_infer;

// Everything about an elementwise op but its gradient. infer says what its operands may be, which have one shape and type: same_infer
// anything, float_infer floating point, number_infer all but bool, logical_infer bool; compare_infer takes anything and gives bool.
// costly: worth keeping rather than computing twice within a row.
template <class Rule, int Arity>
constexpr op_info elementwise_op(char const* name, void (*vjp)(vjp_context&), bool costly = false,
                                 value_info (*infer)(value_info const*, int, attributes const&) = detail::same_infer,
                                 int (*simplify)(simplify_context&) = nullptr) {
  return {.name = name,
          .kind = op_kind::elementwise,
          .arity = Arity,
          .infer = infer,
          .vjp = vjp,
          .simplify = simplify,
          .fold = detail::fold_with<Rule, Arity>,
          .costly = costly};
}

// An op without a slope: gradients stop there without an error.
constexpr op_info flat(op_info op) {
  op.differentiable = false;
  return op;
}

// Emits an elementwise op on operands brought to one shape.
constexpr var elementwise(op_info const& op, std::initializer_list<var> in) {
  shape common{};
  for (var const& v : in) common = common_shape(common, v.dims());
  int ids[4] = {};
  int n = 0;
  graph* g = nullptr;
  for (var const& v : in) {
    ids[n++] = broadcast_to(v, common).id;
    g = v.g;
  }
  return {g, g->emit(&op, ids, n, {})};
}

namespace detail {
template <op_info const* Op>
struct elementwise_fn {
  template <class... V>
  constexpr var operator()(V... v) const {
    return elementwise(*Op, {v...});
  }
};
}  // namespace detail

namespace detail {
// Of a number, or of a tensor without a type, no extents: those meet any.
template <class A>
constexpr shape known_extents() {
  if constexpr (typed_handle<A>) return A::info.dims;
  else return {};
}
constexpr bool extents_meet(std::initializer_list<shape> all) {
  for (shape const& a : all)
    for (shape const& b : all)
      if (!tx::extents_meet(a, b)) return false;
  return true;
}
}  // namespace detail

// The front end of an elementwise op: tensors, vars and numbers, at least one of them a handle. A compiler needs fewer lines for an assertion than for a
// rule that throws.
template <op_info const* Op, operand... A>
  requires(handle<A> || ...)
constexpr auto lift_elementwise(A const&... a) {
  static_assert(detail::extents_meet({detail::known_extents<A>()...}), "shapes do not broadcast: aligned at the right, extents must be equal or 1. FIX: reshape or transpose an operand");
  return lift<detail::elementwise_fn<Op>>(a...);
}

}  // namespace tx
