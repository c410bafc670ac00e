// Heads of no whole width, and key heads that the heads do not share evenly.
// several errors
// expect: tx::nn::multi_head_attention: the width is no multiple of the number of heads
// expect: tx::nn::attend: as many heads share each key head
#include <tx/nn/multi_head_attention.hpp>

tx::nn::multi_head_attention<8, 3> three;

constexpr auto uneven = [](tx::tensor<float, 1, 4, 5, 2> q, tx::tensor<float, 1, 3, 5, 2> k) { return tx::nn::attend(q, k, k); };
using result = decltype(uneven({}, {}));
