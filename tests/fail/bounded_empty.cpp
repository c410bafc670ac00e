// A bounded extent beside an axis without elements.
// expect: a tensor with a bounded extent has an axis without elements. FIX: fixed extents above 0
#include <tx/expr/tensor.hpp>

using text = tx::tensor<float, tx::dyn<8>, 0>;
static_assert(text::info.count() == 0);
