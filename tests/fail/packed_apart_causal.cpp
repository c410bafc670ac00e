// Causal attention to keys of packed texts that begin apart from those of queries.
// expect: tx::nn::attend_packed: where queries stand among keys is not known, as texts of both begin apart. FIX: no causal and no local<W>, or one texts_at<Longest>(offsets) for both
#include <tx/nn/attend_packed.hpp>

using begins = tx::tensor<tx::i32, 4>;
constexpr auto f = [](tx::tensor<float, 9, 4> q, tx::tensor<float, 14, 4> k, begins of_queries, begins of_keys) {
  return tx::nn::attend_packed<2>(q, k, k, tx::nn::texts_at<3>(of_queries), tx::nn::texts_at<5>(of_keys), tx::nn::causal);
};
using mixed = decltype(f({}, {}, {}, {}));
