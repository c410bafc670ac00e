// copy: the same value in a place of its own. Passes insert it where a value must lie somewhere particular.
#pragma once

#include <tx/expr/var.hpp>

namespace tx {

namespace rules {
struct copy {
  template <class V>
  static TX_HD constexpr V apply(V x) {
    return x;
  }
};
}  // namespace rules

namespace detail {
constexpr value_info copy_infer(value_info const* in, int, attributes const&) { return in[0]; }
constexpr bool copy_restride(strided&, shape const&, shape const&, attributes const&) { return true; }
}  // namespace detail

// The attribute of a copy: a number that keeps copies of one value apart.
constexpr attributes of_copy(std::int64_t number) { return {{number}}; }
inline constexpr op_info copy_info{.name = "copy",
                                   .kind = op_kind::elementwise,
                                   .arity = 1,
                                   .infer = detail::copy_infer,
                                   .restride = detail::copy_restride};
template <>
struct scalar_rule<&copy_info> {
  using type = rules::copy;
};

}  // namespace tx
