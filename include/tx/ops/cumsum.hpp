// cumsum<Axis>(x): each element and those before it along an axis, added in order; with FromEnd, those behind it. [...] -> the same. The
// gradient is the running sum the other way round.
// Halves are added in f32.
// Errors: bool; an axis there is not.
#pragma once

#include <tx/ops/in_f32.hpp>
#include <tx/ops/lines.hpp>

namespace tx {

namespace detail {
constexpr value_info cumsum_infer(value_info const* in, int, attributes const&) {
  if (in[0].type == dtype::boolean) throw invalid("cumsum: elements are bool. FIX: cast<tx::i32>(x) first");
  return in[0];
}
constexpr void cumsum_vjp(vjp_context& c);
}  // namespace detail

// at.v: axis, 1 for from the end.
inline constexpr op_info cumsum_info{
    .name = "cumsum", .kind = op_kind::whole, .arity = 1, .infer = detail::cumsum_infer, .vjp = detail::cumsum_vjp};

namespace rules {
struct cumsum {
  template <class T>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    axis_lines const l = lines_along(out.dims, axis_of(at));
    bool const from_end = number_along(at) != 0;
    for_lines(share, shares, l, [&](std::int64_t o, std::int64_t first, std::int64_t end) {
      for (std::int64_t k = 0; k < l.extent; ++k) {
        std::int64_t const here = l.at(o, from_end ? l.extent - 1 - k : k, 0);
        std::int64_t const before = from_end ? here + l.inner : here - l.inner;
        for (std::int64_t j = first; j < end; ++j)
          out.data[here + j] = k == 0 ? in.data[here + j] : static_cast<T>(out.data[before + j] + in.data[here + j]);
      }
    });
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&cumsum_info> {
  using type = rules::cumsum;
};

constexpr var cumsum(var x, int axis, bool from_end = false) {
  axis = detail::named_axis(x.dims(), axis,
                            "cumsum: the tensor has no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1");
  return emit(cumsum_info, {x}, along(axis, from_end));
}

namespace detail {
constexpr void cumsum_vjp(vjp_context& c) {
  attributes const at = c.at();
  c.accumulate(0, cumsum(c.gradient, axis_of(at), number_along(at) == 0));
}

template <int Axis, bool FromEnd>
struct cumsum_fn {
  constexpr var operator()(var x) const {
    if (is_storage_only(x.type())) return in_f32(*this, x);
    return cumsum(x, Axis, FromEnd);
  }
};
}  // namespace detail

template <int Axis, bool FromEnd = false, handle X>
constexpr auto cumsum(X const& x) {
  return lift<detail::cumsum_fn<Axis, FromEnd>>(x);
}

}  // namespace tx
