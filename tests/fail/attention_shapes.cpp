// Attention with a head of no whole width, and over what is no batch of sequences.
// several errors
// expect: tx::nn::self_attention: the width is no multiple of the number of heads
// expect: tx::nn: attention takes a tensor [batch, seq, width] and perhaps a mask [batch, seq]
#include <tx/nn/attention.hpp>

tx::nn::self_attention<8, 3> three;
using attention = tx::nn::self_attention<8, 2>;
constexpr auto flat = [](attention const& m, tx::tensor<float, 5, 8> x) { return m(x); };
using result = decltype(flat({}, {}));
