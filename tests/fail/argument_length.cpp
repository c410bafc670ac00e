// An array of another length than the argument.
// expect: tx::executor: an array has another number of elements than the step's argument
#include <tx/backends/reference.hpp>
#include <tx/ops/exp.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, 8> x) { return tx::exp(x); };
int main() {
  tx::executor<tx::function<f>, tx::reference> run{tx::seed(0)};
  run(std::array<float, 9>{});
}
