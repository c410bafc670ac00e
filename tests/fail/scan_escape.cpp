// A tensor of a body of a scan that is used behind it.
// expect: a tensor of a repeated body is read outside of it. FIX:
#include <tx/expr/scan.hpp>
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

using namespace tx;
constexpr auto f = [](tensor<float, 2> x) {
  tensor<float, 2> kept = x;
  auto const last = scan<2>([&](auto const& carry) { return kept = carry + x; }, x);
  return last + kept;
};
static_assert(function<f>::memory.arena > 0);
