// A range of doubles for an argument of floats.
// expect: tx::executor: a range or view has another element type, the first, than the step's argument, the second. FIX: pass one of that type
// expect somewhere: element_given_and_wanted<double, float>
#include <tx/backends/reference.hpp>
#include <tx/ops/exp.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, 8> x) { return tx::exp(x); };
int main() {
  tx::executor<tx::function<f>, tx::reference> run{tx::seed(0)};
  run(std::vector<double>(8));
}
