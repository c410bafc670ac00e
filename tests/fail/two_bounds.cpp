// Arguments with two bounds of one tag.
// expect: tx::executor: arguments have two bounds of one tag
#include <tx/backends/cpu.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

struct two {
  tx::tensor<float, tx::dyn<8>, 3> a;
  tx::tensor<float, tx::dyn<16>, 3> b;
};
constexpr auto f = [](tx::tensor<float, tx::dyn<8>, 3> x, tx::tensor<float, tx::dyn<16>, 3> y) { return two{tx::tanh(x), tx::tanh(y)}; };
tx::executor<tx::function<f>, tx::cpu> run{};
