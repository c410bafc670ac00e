// Positions beyond a table's rows.
// expect: tx::nn::embedding: the table has too few rows. FIX: more positions in the configuration
#include <tx/nn/embedding.hpp>

constexpr auto f = [](tx::nn::embedding<4, 8> const& table) { return table.first<5>(); };
using result = decltype(f({}));
