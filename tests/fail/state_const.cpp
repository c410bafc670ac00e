// A program that sets a state, on parameters that are only read.
// expect: or sets a state, changes what lies in its parameter_block, and this one is const. FIX:
#include <tx/backends/cpu.hpp>
#include <tx/expr/state.hpp>
#include <tx/ops/add.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

struct counted {
  tx::state<tx::tensor<float, 8>> seen;
};
constexpr auto f = [](counted const& m, tx::tensor<float, 8> x) {
  m.seen.set(m.seen + x);
  return m.seen + x;
};
void run(tx::parameter_block<counted, tx::cpu> const& parameters) { tx::executor<tx::function<f, counted>, tx::cpu> e{parameters}; }
