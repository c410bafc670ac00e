// A scan's slices, marked as a repeat's are.
// expect: tx::scan: what stands behind the carry is given slice by slice as it is. FIX: xs without tx::each
#include <tx/expr/repeat.hpp>
#include <tx/expr/scan.hpp>
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

using namespace tx;
constexpr auto f = [](tensor<float, 2> h, tensor<float, 3, 2> xs) {
  return scan<3>([](auto const& carry, auto const& x) { return carry + x; }, h, each(xs));
};
static_assert(function<f>::memory.arena > 0);
