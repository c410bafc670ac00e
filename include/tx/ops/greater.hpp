// greater(a, b): a > b, a bool tensor. [4, 1], [3] -> bool [4, 3]. False where either is NaN.
#pragma once

#include <tx/ops/less.hpp>

namespace tx {

template <operand A, operand B>
requires(handle<A> || handle<B>) constexpr auto greater(A const& a, B const& b) { return less(b, a); }

}  // namespace tx
