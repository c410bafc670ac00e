// A std::vector<bool> as an argument: it holds bits, not elements.
// expect: tx::executor: an argument is no contiguous range of elements. FIX: a std::vector, std::array or std::span
#include <tx/backends/reference.hpp>
#include <tx/ops/where.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<bool, 4> mask, tx::tensor<float, 4> x) { return tx::where(mask, x, 0.0); };
auto const told = [] {
  tx::executor<tx::function<f>, tx::reference> run;
  return static_cast<float>(run(std::vector<bool>(4), std::vector<float>(4)).value[0]);
}();
