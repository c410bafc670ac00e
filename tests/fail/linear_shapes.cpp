// A linear layer that is given rows of another width.
// expect: tx::tensor<float, 32, 256>, tx::tensor<float, 784, 10>
// expect: matmul: the last extent of the left side is not the last but one of the right side
#include <tx/nn/linear.hpp>

struct model {
  tx::nn::linear<784, 10> out;
  constexpr auto operator()(auto const& x) const { return out(x); }
};
constexpr auto f = [](model const& m, tx::tensor<float, 32, 256> x) { return m(x); };
using result = decltype(f({}, {}));
