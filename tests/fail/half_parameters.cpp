// Parameters of halves.
// expect: tx: parameters that are trained are f32 or f64. FIX: mixed<bf16>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/backends/cpu.hpp>

struct model {
  tx::param<tx::tensor<tx::bf16, 3>> w;
};
constexpr auto f = [](model const& m, tx::tensor<tx::bf16, 3>) { return tx::tensor<tx::bf16, 3>(m.w); };
static_assert(tx::layout<model>::size > 0);
