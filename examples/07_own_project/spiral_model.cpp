// The only file that knows tx: here the step is recorded, differentiated, planned and turned into kernels.
#include "spiral_model.hpp"

#include "residual.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

namespace own {
namespace {

constexpr int size = 64;
constexpr int width = 32;
using wide = tx::init::normal<1, 2>;  // starts with a slope everywhere

struct classifier {
  tx::nn::linear<2, width, wide> in;
  residual<width> hidden;
  tx::nn::linear<width, 2> out;
  constexpr auto operator()(auto const& x) const { return out(hidden(squash(in(x)))); }
};
using inputs = tx::tensor<tx::f32, size, 2>;

constexpr auto loss = [](classifier const& m, inputs x, tx::tensor<tx::i32, size> label) {
  return tx::cross_entropy(m(x), label);
};
constexpr auto scores = [](classifier const& m, inputs x) { return m(x); };

}  // namespace

struct spiral_model::programs {
  tx::executor<tx::train_step<classifier, loss, tx::adamw>, tx::cpu> step;
  tx::executor<tx::function<scores, classifier>, tx::cpu> infer;  // of the same parameters

  explicit programs(std::uint64_t seed) : step(tx::seed(seed)), infer(step) { step.settings["learning_rate"] = 1e-2f; }
};

int const spiral_model::batch = size;

spiral_model::spiral_model(std::uint64_t seed) : programs_(std::make_unique<programs>(seed)) {}
spiral_model::~spiral_model() = default;

float spiral_model::train(std::span<float const> points, std::span<std::int32_t const> labels) {
  return programs_->step(points, labels).loss;
}

double spiral_model::accuracy(std::span<float const> points, std::span<std::int32_t const> labels) {
  auto const out = programs_->infer(points).value;  // [batch, 2]
  int right = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) right += (out[2 * i + 1] > out[2 * i]) == (labels[i] == 1);
  return static_cast<double>(right) / size;
}

}  // namespace own
