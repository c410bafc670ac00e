// A body of a scan that hands on another shape than it was given.
// expect: tx::scan: the body hands on another type or shape than it was given. FIX:
#include <tx/expr/scan.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/sum.hpp>
#include <tx/step/function.hpp>

using namespace tx;
constexpr auto f = [](tensor<float, 2> h, tensor<float, 3, 2> xs) {
  return scan<3>([](auto const& carry, auto const& x) { return sum(carry + x); }, h, xs);
};
static_assert(function<f>::memory.arena > 0);
