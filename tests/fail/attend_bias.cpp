// A bias without the axis of texts.
// expect: tx::nn::attend: what is behind the values is causal, local<W>, a mask [batch, keys], or a bias of four axes
#include <tx/nn/attend.hpp>

constexpr auto flat = [](tx::tensor<float, 1, 4, 5, 2> q, tx::tensor<float, 4, 5, 5> bias) { return tx::nn::attend(q, q, q, bias); };
using result = decltype(flat({}, {}));
