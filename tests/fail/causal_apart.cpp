// Causal attention where the numbers of queries and keys are bounded apart.
// expect: tx::nn::attend: where queries stand among keys is not known, as the numbers of both are bounded apart. FIX: one dyn<Max, Tag> for both
#include <tx/nn/attend.hpp>

using queries = tx::tensor<float, 2, 1, tx::dyn<8, 1>, 4>;
using keys = tx::tensor<float, 2, 1, tx::dyn<8, 2>, 4>;
constexpr auto f = [](queries q, keys k) { return tx::nn::attend(q, k, k, tx::nn::causal); };
using mixed = decltype(f(queries{}, keys{}));
