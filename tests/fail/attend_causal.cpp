// Queries beyond the last key, which have no place in a text.
// expect: tx::nn::attend: causal attention has no more queries than keys
#include <tx/nn/attend.hpp>

constexpr auto ahead = [](tx::tensor<float, 1, 4, 5, 2> q, tx::tensor<float, 1, 4, 3, 2> k) { return tx::nn::attend(q, k, k, tx::nn::causal); };
using result = decltype(ahead({}, {}));
