// Layers whose products are cuBLASLt's or hipBLASLt's, forward and backward, in f32, in bf16 and, of cuBLASLt's, in E4M3, and layers of attention, in which it has three at a time. Without a device a
// stand-in of cuBLASLt computes them (tests/ptx/blas).
#include "its_library.hpp"
#include "same_steps.hpp"

#include <tx/nn/attention.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/step/function.hpp>
#include <tx/train/options.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <algorithm>
#include <bit>

constexpr int rows = 64, wide = 512, narrow = 264;

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

// Of two texts of 16 tokens: the smallest products of this width that a library takes.
struct layer {
  tx::nn::self_attention<wide, 8> attention;
  constexpr auto operator()(auto const& x) const { return x * 0.5f + attention(x); }
};
struct attending {
  tx::repeat<2, layer> layers;
};
constexpr auto attending_loss = [](attending const& m, tx::tensor<float, 2, 16, wide> x) {
  auto const y = m.layers(x);
  return tx::mean(y * y);
};
using attention_step = tx::train_step<attending, attending_loss, tx::sgd, tx::mixed<tx::bf16>>;

#if !defined(TX_FOR_HIP)
// Of E4M3: two products forward, with biases, and one backward.
struct quarters {
  tx::nn::linear<wide, wide> in, out;
};
constexpr auto quarters_loss = [](quarters const& m, tx::tensor<float, 32, wide> x) {
  auto const y = m.out(tx::gelu(m.in(x)));
  return tx::mean((y - x) * (y - x));
};
using quarters_step = tx::train_step<quarters, quarters_loss, tx::sgd, tx::mixed<tx::e4m3>>;

// Products of floats of 11 bits: as those of floats rounded so before, and not as those of whole ones.
constexpr auto multiplied_in_tf32 = [](tx::tensor<float, 32, wide> a, tx::tensor<float, wide, wide> b) { return tx::matmul(a, b); };
int rounds_floats() {
  std::vector<float> a(32 * wide), b(wide * wide);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i * 7919 % 1013) * 0.0013f - 0.6f;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 104729 % 997) * 0.0017f - 0.8f;
  auto const rounded = [](float x) {
    auto const bits = std::bit_cast<std::uint32_t>(x);
    return static_cast<double>(std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu));
  };
  tx::executor<tx::function<multiplied_in_tf32>, tx::cuda_blas_tf32> run;
  auto const y = run(a, b).value;
  double furthest = 0, from_whole = 0;
  for (std::size_t i = 0; i < 32; i += 7)
    for (std::size_t j = 0; j < wide; j += 13) {
      double sum = 0, whole = 0;
      for (std::size_t k = 0; k < wide; ++k) {
        sum += rounded(a[i * wide + k]) * rounded(b[k * wide + j]);
        whole += static_cast<double>(a[i * wide + k]) * static_cast<double>(b[k * wide + j]);
      }
      furthest = std::max(furthest, std::abs(sum - static_cast<double>(y[i * wide + j])));
      from_whole = std::max(from_whole, std::abs(whole - static_cast<double>(y[i * wide + j])));
    }
  std::printf("products of floats of 11 bits: within %.1e, of whole floats %.1e\n", furthest, from_whole);
  return furthest < 1e-4 && from_whole > 1e-4 ? 0 : 1;
}
#endif

int main() {
  std::vector<float> x(rows * wide);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 113) * 0.02f - 1;
  int const in_f32 = same_steps_within<step<>, its_library>(1e-5, x);
  if (in_f32 != 0) return in_f32;
  int const in_bf16 = same_steps_within<step<tx::mixed<tx::bf16>>, its_library>(2e-4, x);
  if (in_bf16 != 0) return in_bf16;
  x.resize(32 * wide);
  int const attends = same_steps_within<attention_step, its_library>(2e-4, x);
#if defined(TX_FOR_HIP)
  return attends;
#else
  if (attends != 0) return attends;
  int const in_e4m3 = same_steps_within<quarters_step, tx::cuda_blas_fp8>(2e-4, x);
  return in_e4m3 != 0 ? in_e4m3 : rounds_floats();
#endif
}
