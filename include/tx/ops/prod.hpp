// prod<axes...>(x): multiplies over axes and keeps them with extent 1; without axes over all, giving a scalar. [2, 5, 3] -> [2, 1, 3] for prod<1>. The
// gradient of an element is the product of the others, not a quotient, so that it is right beside zeros. It has none of its
// own: where it is differentiated again, a compile error names products_of_others. Halves are multiplied in f32.
// Errors: bool; an axis there is not; a bounded axis multiplied over.
#pragma once

#include <tx/ops/in_f32.hpp>
#include <tx/ops/lines.hpp>
#include <tx/ops/sum.hpp>

namespace tx {

namespace rules {
struct prod {
  template <class V>
  static TX_HD constexpr V apply(V a, V b) {
    return a * b;
  }
  template <class T>
  static TX_HD constexpr T identity() {
    return T(1);
  }
};
}  // namespace rules

namespace detail {
constexpr value_info row_prod_infer(value_info const* in, int count, attributes const& at) {
  if (in[0].type == dtype::boolean) throw invalid("prod: elements are bool. FIX: cast<tx::i32>(x) first");
  return row_reduce_infer(in, count, at);
}
constexpr int prod_simplify(simplify_context& c) { return reduction_simplify(c, 1); }
constexpr value_info others_infer(value_info const* in, int, attributes const&) { return in[0]; }
constexpr void row_prod_vjp(vjp_context& c);
}  // namespace detail

// [..., C] -> [..., 1]
inline constexpr op_info row_prod_info{.name = "row_prod",
                                       .kind = op_kind::row_reduce,
                                       .arity = 1,
                                       .infer = detail::row_prod_infer,
                                       .vjp = detail::row_prod_vjp,
                                       .simplify = detail::prod_simplify,
                                       .combine = detail::combined<rules::prod>,
                                       .nothing = 1};
template <>
struct scalar_rule<&row_prod_info> {
  using type = rules::prod;
};

// For each element the product of the others of its row. [..., C] -> [..., C]
inline constexpr op_info products_of_others_info{
    .name = "products_of_others", .kind = op_kind::whole, .arity = 1, .infer = detail::others_infer};

namespace rules {
struct products_of_others {
  // What is before an element times what is behind it.
  template <class T>
  static TX_HD void run(int share, int shares, attributes const&, whole_operand<T> out, whole_operand<T const> in) {
    axis_lines const l = lines_along(out.dims, out.dims.rank - 1);
    for (std::int64_t r = l.outer * share / shares; r < l.outer * (share + 1) / shares; ++r) {
      T const* const x = in.data + r * l.extent;
      T* const y = out.data + r * l.extent;
      T before = T(1);
      for (std::int64_t k = 0; k < l.extent; ++k) y[k] = before, before = static_cast<T>(before * x[k]);
      T behind = T(1);
      for (std::int64_t k = l.extent - 1; k >= 0; --k)
        y[k] = static_cast<T>(y[k] * behind), behind = static_cast<T>(behind * x[k]);
    }
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&products_of_others_info> {
  using type = rules::products_of_others;
};

namespace detail {
template <int... Axes>
struct prod_fn {
  constexpr var operator()(var x) const {
    if (is_storage_only(x.type())) return in_f32(*this, x);
    if constexpr (sizeof...(Axes) == 0) {
      return reshape(emit(row_prod_info, {reshape(x, shape{1, {}, {static_cast<int>(x.info().count())}})}), shape{});
    } else {
      int const axes[] = {Axes...};
      return reduce_axes(x, axes, sizeof...(Axes), row_prod_info, nullptr);
    }
  }
};
}  // namespace detail

template <int... Axes, handle X>
constexpr auto prod(X const& x) {
  return lift<detail::prod_fn<Axes...>>(x);
}

}  // namespace tx

#include <tx/ops/mul.hpp>

namespace tx::detail {
constexpr void row_prod_vjp(vjp_context& c) { c.accumulate(0, emit(products_of_others_info, {c.in(0)}) * c.gradient); }
}  // namespace tx::detail
