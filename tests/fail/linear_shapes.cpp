// A linear layer that is given rows of another width.
// within 10 lines
// expect: matmul: the last extent of the left side is not the last but one of the right side. FIX: make them equal, or transpose a side
// expect somewhere: tensor<float, 32, 256>
// expect somewhere: tensor<float, 784, 10>
// expect somewhere: linear_shapes.cpp:11:
#include <tx/nn/linear.hpp>

struct model {
  tx::nn::linear<784, 10> out;
  constexpr auto operator()(auto const& x) const { return out(x); }
};
constexpr auto f = [](model const& m, tx::tensor<float, 32, 256> x) { return m(x); };
using result = decltype(f({}, {}));
