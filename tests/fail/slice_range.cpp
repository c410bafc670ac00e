// A slice that reaches beyond its axis.
// expect: tx::tensor<float, 8, 16>
// expect: slice: it reaches beyond the axis. FIX: keep start + (count - 1) * step below the extent
#include <tx/ops/slice.hpp>

constexpr auto f = [](tx::tensor<float, 8, 16> x) { return tx::slice<1, 8, 5, 2>(x); };
using result = decltype(f({}));
