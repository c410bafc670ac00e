// More iterations that draw than there are streams.
// expect: uniform, dropout: more than 65,536 of them in a program, or iterations of a body that draws. FIX:
#include <tx/expr/scan.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/random.hpp>
#include <tx/step/function.hpp>

using namespace tx;
constexpr auto f = [](tensor<float, 2> x) {
  return scan<300>([](auto const& outer) { return scan<300>([](auto const& carry) { return carry + uniform(carry); }, outer); }, x);
};
static_assert(function<f>::memory.arena >= 0);
