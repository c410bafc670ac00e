// A view of doubles for an argument of floats.
// expect: tx::executor: a view has another element type than the step's argument. FIX: pass a view of that type
#include <tx/backends/reference.hpp>
#include <tx/ops/exp.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, 8> x) { return tx::exp(x); };
int main() {
  tx::executor<tx::function<f>, tx::reference> run{tx::seed(0)};
  run(tx::array_view<double>{});
}
