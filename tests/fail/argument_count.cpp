// One range for a step of two arguments.
// expect: tx::executor: a call has another number of ranges (the first number) than the step has arguments (the second). FIX:
// expect somewhere: as_many_ranges<1
#include <tx/backends/reference.hpp>
#include <tx/ops/add.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, 8> x, tx::tensor<float, 8> y) { return x + y; };
int main() {
  tx::executor<tx::function<f>, tx::reference> run{tx::seed(0)};
  run(std::array<float, 8>{});
}
