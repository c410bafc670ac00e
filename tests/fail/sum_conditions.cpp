// A count of conditions that would be a condition.
// expect: sum, mean: elements are bool. FIX: cast<tx::i32>(x)
#include <tx/ops/less.hpp>
#include <tx/ops/sum.hpp>

constexpr auto f = [](tx::tensor<float, 6> x) { return tx::sum(tx::less(x, 0)); };
using result = decltype(f({}));
