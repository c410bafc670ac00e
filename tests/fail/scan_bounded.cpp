// A scan over a bounded axis, of which a run may have fewer.
// expect: tx::scan: each iteration has a slice of the tensors behind the carry, and one of them has another leading extent than there are iterations. FIX:
#include <tx/expr/scan.hpp>
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

using namespace tx;
constexpr auto f = [](tensor<float, 2> h, tensor<float, dyn<3>, 2> xs) {
  return scan<3>([](auto const& carry, auto const& x) { return carry + x; }, h, xs);
};
static_assert(function<f>::memory.arena > 0);
