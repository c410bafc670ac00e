// A function that looks at the value of what it records.
// expect: a tensor has no numbers while a model is recorded. FIX: where(
#include <tx/ops/exp.hpp>
#include <tx/ops/mean.hpp>
#include <tx/step/function.hpp>

constexpr auto f = [](tx::tensor<float, 8> x) {
  auto const m = tx::mean(x);
  return m > 0 ? m : tx::exp(m);
};
using program = tx::function<f>;
static_assert(program::memory.arena > 0);
