// A mean over an axis whose extent is known at run time only.
// expect: mean: over a bounded axis the number of elements is known at run time only. FIX: sum and divide by the count
#include <tx/ops/mean.hpp>

constexpr auto f = [](tx::tensor<float, tx::dyn<8>, 4> x) { return tx::mean<0>(x); };
using result = decltype(f({}));
