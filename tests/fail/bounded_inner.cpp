// A bounded extent behind a fixed one.
// expect: tx: only the leading extent of a tensor may be bounded. FIX: a number for the others, or that axis first
#include <tx/expr/tensor.hpp>

using text = tx::tensor<float, 4, tx::dyn<8>>;
static_assert(text::info.count() == 32);
