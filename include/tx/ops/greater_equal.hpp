// greater_equal(a, b): a >= b, a bool tensor. [4, 1], [3] -> bool [4, 3]. False where either is NaN.
#pragma once

#include <tx/ops/less_equal.hpp>

namespace tx {

template <operand A, operand B>
requires(handle<A> || handle<B>) constexpr auto greater_equal(A const& a, B const& b) { return less_equal(b, a); }

}  // namespace tx
