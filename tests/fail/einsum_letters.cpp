// A letter that stands for two extents.
// expect: tx::tensor<float, 3, 4>
// expect: einsum: a letter stands for two extents. FIX:
#include <tx/ops/einsum.hpp>

constexpr auto f = [](tx::tensor<float, 3, 4> a, tx::tensor<float, 5, 6> b) { return tx::einsum<"ij,jk->ik">(a, b); };
using result = decltype(f({}, {}));
