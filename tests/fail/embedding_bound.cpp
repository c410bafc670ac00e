// A bag of a bounded number of ids.
// expect: embedding: a bag of a bounded number of ids. FIX: take(table, ids)
#include <tx/ops/embedding.hpp>

constexpr auto f = [](tx::tensor<float, 7, 4> table, tx::tensor<tx::i32, tx::dyn<32>> ids) { return tx::embedding(table, ids); };
using result = decltype(f({}, {}));
