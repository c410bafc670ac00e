// concat<Axis>(x...): tensors laid one after the other along an axis. [2, 3], [2, 5] -> [2, 8] for Axis 1. The gradient
// of each is its slice.
// Errors: tensors of different types, or whose other extents differ; a bounded axis.
#pragma once

#include <tx/ops/lines.hpp>
#include <tx/ops/slice.hpp>

namespace tx {

namespace detail {
constexpr value_info concat_infer(value_info const* in, int count, attributes const& at) {
  value_info out = in[0];
  auto const axis = axis_of(at);
  if (out.dims.is_bounded(static_cast<int>(axis)))
    throw invalid("concat: a bounded axis has no fixed end to go on from. FIX: concat along another axis");
  for (int k = 1; k < count; ++k) {
    if (in[k].type != out.type) throw invalid("concat: element types differ. FIX: convert one side with cast<T>(x)");
    if (!same_but_for(in[k].dims, out.dims, axis) || in[k].dims.bounds != out.dims.bounds)
      throw invalid("concat: extents of axes that are not joined differ. FIX: make them equal, or concat along the axis where they differ");
    out.dims.dim[axis] += in[k].dims.dim[axis];
  }
  return out;
}
constexpr void concat_vjp(vjp_context& c) {
  auto const axis = axis_of(c.at());
  int const count = c.self().inputs;
  int start = 0;
  for (int k = 0; k < count; ++k) {
    int const extent = c.in_info(k).dims.dim[axis];
    if (c.needs(k)) c.accumulate(k, slice(c.gradient, axis, start, extent, 1));
    start += extent;
  }
}
constexpr int concat_simplify(simplify_context& c) { return c.count == 1 ? c.in[0] : -1; }
}  // namespace detail

// Its axis.
inline constexpr op_info concat_info{.name = "concat",
                                     .kind = op_kind::whole,
                                     .arity = -1,
                                     .infer = detail::concat_infer,
                                     .vjp = detail::concat_vjp,
                                     .simplify = detail::concat_simplify};

namespace rules {
struct concat {
  template <class T, class... In>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<T> out, whole_operand<In>... in) {
    std::int64_t start = 0;  // along the axis
    ((copy(share, shares, axis_of(at), out, in, start), start += in.dims.dim[axis_of(at)]), ...);
  }

 private:
  // A share has some of the elements of each operand; what lies in one block of it lies in one piece of the result.
  template <class T>
  static TX_HD void copy(int share, int shares, std::int64_t axis, whole_operand<T> out, whole_operand<T const> in,
                         std::int64_t start) {
    axis_lines const from = lines_along(in.dims, axis);
    axis_lines const to = lines_along(out.dims, axis);
    std::int64_t const block = from.extent * from.inner;
    std::int64_t const count = from.outer * block;
    std::int64_t const end = count * (share + 1) / shares;
    for (std::int64_t e = count * share / shares; e < end;) {
      T* const piece = out.data + to.at(e / block, start, e % block);
      std::int64_t const n = block - e % block < end - e ? block - e % block : end - e;
      for (std::int64_t i = 0; i < n; ++i) piece[i] = in.data[e + i];
      e += n;
    }
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&concat_info> {
  using type = rules::concat;
};

constexpr var concat(std::initializer_list<var> in, int axis) {
  var const& first = *in.begin();
  axis = detail::named_axis(first.dims(), axis,
                            "concat: the tensors have no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1");
  vec<int> ids{};
  for (var const& v : in) ids.push_back(v.id);
  return {first.g, first.g->emit(&concat_info, ids.data(), ids.size(), along(axis))};
}

namespace detail {
template <int Axis>
struct concat_fn {
  template <class... V>
  constexpr var operator()(V... v) const {
    return concat({v...}, Axis);
  }
};
}  // namespace detail

template <int Axis, handle... X>
  requires(sizeof...(X) > 0)
constexpr auto concat(X const&... x) {
  return lift<detail::concat_fn<Axis>>(x...);
}

}  // namespace tx
