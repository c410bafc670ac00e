// Scans five deep in each other.
// expect: repeated bodies are more than four deep in each other. FIX:
#include <tx/expr/scan.hpp>
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

using namespace tx;
template <int Deep>
constexpr auto nest(tensor<float, 2> x) {
  if constexpr (Deep == 0) return x + x;
  else return scan<2>([](tensor<float, 2> const& carry) { return nest<Deep - 1>(carry) + carry; }, x);
}
constexpr auto f = [](tensor<float, 2> x) { return nest<5>(x); };
static_assert(function<f>::memory.arena > 0);
