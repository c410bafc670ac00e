// not_equal(a, b): a != b, a bool tensor. [4, 1], [3] -> bool [4, 3]. True where either is NaN, so not_equal(x, x) finds the NaN in x.
#pragma once

#include <tx/ops/equal.hpp>
#include <tx/ops/logical_not.hpp>

namespace tx {

template <operand A, operand B>
requires(handle<A> || handle<B>) constexpr auto not_equal(A const& a, B const& b) { return logical_not(equal(a, b)); }

}  // namespace tx
