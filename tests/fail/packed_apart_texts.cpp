// Queries of three packed texts, keys of two.
// expect: tx::nn::attend_packed: queries of a text attend to keys of that text, so there are as many texts of both. FIX: an empty text, which begins where it ends, where one has no keys
#include <tx/nn/attend_packed.hpp>

constexpr auto f = [](tx::tensor<float, 9, 4> q, tx::tensor<float, 14, 4> k, tx::tensor<tx::i32, 4> of_queries, tx::tensor<tx::i32, 3> of_keys) {
  return tx::nn::attend_packed<2>(q, k, k, tx::nn::texts_at<3>(of_queries), tx::nn::texts_at<5>(of_keys));
};
using mixed = decltype(f({}, {}, {}, {}));
