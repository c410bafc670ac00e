// An in-batch loss of sides of different length.
// expect: tx::nn::in_batch_softmax_loss: both sides are [batch, width]
#include <tx/nn/losses.hpp>

constexpr auto f = [](tx::tensor<float, 4, 8> q, tx::tensor<float, 5, 8> d) { return tx::nn::in_batch_softmax_loss(q, d); };
using result = decltype(f({}, {}));
