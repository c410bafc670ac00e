#include "program.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/tx.hpp>

constexpr auto f = [](tx::tensor<tx::f32, 3> x) { return x * x; };

void squares(float const* x, float* result) {
  tx::executor<tx::function<f>, tx::cpu> run{};
  auto const out = run(std::span<float const>(x, 3)).value;
  for (std::size_t i = 0; i < 3; ++i) result[i] = out[i];
}
