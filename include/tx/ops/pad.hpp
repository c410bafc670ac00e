// pad(x, axis, start, step, extent): zeros of a larger extent with x at start, start + step, ...; the gradient of slice.
#pragma once

#include <tx/ops/partitioned.hpp>

namespace tx {

namespace detail {
constexpr value_info pad_infer(value_info const* in, int, attributes const& at) {
  value_info out = in[0];
  if (at.v[0] < 0 || at.v[0] >= out.dims.rank) throw invalid("pad: the tensor has no such axis");
  if (at.v[1] + (out.dims.dim[at.v[0]] - 1) * at.v[2] >= at.v[3]) throw invalid("pad: the tensor does not fit the new extent");
  out.dims.dim[at.v[0]] = static_cast<int>(at.v[3]);
  return out;
}
constexpr void pad_vjp(vjp_context& c);
}  // namespace detail

// at.v: axis, start, step, extent.
inline constexpr op_info pad_info{
    .name = "pad", .kind = op_kind::whole, .arity = 1, .infer = detail::pad_infer, .vjp = detail::pad_vjp};

constexpr var pad(var x, int axis, int start, int step, int extent) {
  return emit(pad_info, {x}, attributes{{axis, start, step, extent}});
}

namespace rules {
struct pad {
  // Shares are ranges of the axes before the padded one.
  template <class T>
  static TX_HD void run(int part, int parts, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    std::int64_t outer = 1;
    std::int64_t inner = 1;
    int const axis = static_cast<int>(at.v[0]);
    for (int i = 0; i < axis; ++i) outer *= out.dims.dim[i];
    for (int i = axis + 1; i < out.dims.rank; ++i) inner *= out.dims.dim[i];
    std::int64_t const from = in.dims.dim[axis];
    std::int64_t const to = out.dims.dim[axis];
    for (std::int64_t o = outer * part / parts; o < outer * (part + 1) / parts; ++o) {
      for (std::int64_t k = 0; k < to * inner; ++k) out.data[o * to * inner + k] = T{};
      for (std::int64_t k = 0; k < from; ++k)
        for (std::int64_t j = 0; j < inner; ++j)
          out.data[(o * to + at.v[1] + k * at.v[2]) * inner + j] = in.data[(o * from + k) * inner + j];
    }
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&pad_info> {
  using type = rules::pad;
};

}  // namespace tx

namespace tx {
constexpr var slice(var x, int axis, int start, int count, int step);  // ops/slice.hpp
}

namespace tx::detail {
constexpr void pad_vjp(vjp_context& c) {
  c.accumulate(0, slice(c.gradient, static_cast<int>(c.at().v[0]), static_cast<int>(c.at().v[1]),
                        c.in_info(0).dims.dim[c.at().v[0]], static_cast<int>(c.at().v[2])));
}
}  // namespace tx::detail

#include <tx/ops/slice.hpp>
