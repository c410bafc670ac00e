// Layers whose products are cuBLASLt's, forward and backward, in f32 and in bf16. Without a device a stand-in of it computes them (tests/ptx/blas).
#include <tx/backends/cuda_blas.hpp>

#include "same_steps.hpp"

#include <tx/nn/linear.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/mean.hpp>
#include <tx/train/options.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

constexpr int rows = 128, wide = 512, narrow = 136;

struct model {
  tx::nn::linear<wide, narrow> in;
  tx::nn::linear<narrow, wide> out;
  tx::param<tx::tensor<float, wide, wide>, tx::init::uniform<1, 20>> beside;
};
constexpr auto loss = [](model const& m, tx::tensor<float, rows, wide> x) {
  auto const y = tx::matmul(x, m.beside) + m.out(tx::gelu(m.in(x)));
  return tx::mean((y - x) * (y - x));
};
template <class... Options>
using step = tx::train_step<model, loss, tx::sgd, Options...>;

int main() {
  std::vector<float> x(rows * wide);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 113) * 0.02f - 1;
  int const in_f32 = same_steps_within<step<>, tx::cuda_blas>(1e-5, x);
  return in_f32 != 0 ? in_f32 : same_steps_within<step<tx::mixed<tx::bf16>>, tx::cuda_blas>(2e-4, x);
}
