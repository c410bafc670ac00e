// One range for a step of two arguments.
// expect: tx::executor: as many ranges must be given as the step has arguments
#include <tx/backends/reference.hpp>
#include <tx/exec/executor.hpp>
#include <tx/exec/function.hpp>
#include <tx/ops/add.hpp>

constexpr auto f = [](tx::tensor<float, 8> x, tx::tensor<float, 8> y) { return x + y; };
int main() {
  tx::executor<tx::function<f>, tx::reference> run{tx::seed(0)};
  run(std::array<float, 8>{});
}
