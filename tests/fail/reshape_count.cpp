// A reshape to another number of elements.
// expect: tx::tensor<float, 8, 12>
// expect: reshape: the new extents hold another number of elements
#include <tx/ops/reshape.hpp>

constexpr auto f = [](tx::tensor<float, 8, 12> x) { return tx::reshape<8, 13>(x); };
using result = decltype(f({}));
