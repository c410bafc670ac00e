// Products that sum over a bounded extent, as the gradient of a weight does: those rows count that are there, also inside a repeat.
#include "../../furthest.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/accumulate.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

constexpr int most = 33, width = 8;
struct block {
  nn::linear<width, width, init::normal<1, 3>> dense;
  constexpr auto operator()(auto const& x) const { return x + tanh(dense(x)); }
};
struct net {
  repeat<3, block> layer;
  nn::linear<width, 5, init::normal<1, 3>> out;
  constexpr auto operator()(auto const& x) const { return out(layer(x)); }
};
template <auto Rows>
constexpr auto loss = [](net const& m, tensor<f32, Rows, width> x) {
  auto const y = m(x);
  return sum(y * y);
};
// The product of a matrix of bounded rows with itself, over the rows: its gradient reaches both sides.
template <auto Rows>
constexpr auto gram_loss = [](net const& m, tensor<f32, Rows, width> x) {
  auto const y = m(x);
  auto const products = matmul(transpose(y), y);  // [5, 5]
  return sum(products * products);
};
template <auto Rows, class... Options>
using step = train_step<net, loss<Rows>, adamw, Options...>;

std::vector<float> rows(int count) {
  std::vector<float> x(static_cast<std::size_t>(count * width));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i * 29 + 11) % 37) / 37 - 0.4f;
  return x;
}

// The first moment after one step is a tenth of the gradient.
template <class Backend, int Count, class... Options>
void compare(double tolerance) {
  INFO(Count << " rows");
  executor<step<dyn<most>, Options...>, Backend> bounded{seed(2)};
  executor<step<Count, Options...>, Backend> fixed{seed(2)};
  bounded(rows(most));  // leaves other rows in the arena
  bounded.reset_optimizer();
  std::copy(fixed.elements().begin(), fixed.elements().end(), bounded.elements().begin());
  float const got = bounded(rows(Count)).loss;
  CHECK(got == Approx(float(fixed(rows(Count)).loss)).epsilon(tolerance));
  double furthest = 0, largest = 0;
  for (std::size_t i = 0; i < fixed.elements(1).size(); ++i) {
    keep_furthest(furthest, std::abs(static_cast<double>(bounded.elements(1)[i]) - static_cast<double>(fixed.elements(1)[i])));
    keep_furthest(largest, std::abs(static_cast<double>(fixed.elements(1)[i])));
  }
  CHECK(largest > 0.01);
  CHECK(furthest < tolerance * largest);
}

}  // namespace

TEST_CASE("the gradient of a weight counts the rows that are there") {
  compare<cpu, 1>(1e-5);
  compare<cpu, 9>(1e-5);
  compare<cpu, most>(1e-5);
  compare<reference, 9>(1e-5);
}

TEST_CASE("so it does where gradients lie in one block, and of halves") {
  compare<cpu, 9, clip_gradient>(1e-5);
  compare<cpu, 9, mixed<bf16>>(1e-5);   // an odd number of rows: pairs along the depth
  compare<cpu, 10, mixed<bf16>>(1e-5);
}

TEST_CASE("a product over bounded rows has gradients of both sides") {
  executor<train_step<net, gram_loss<dyn<most>>, adamw>, cpu> bounded{seed(2)};
  executor<train_step<net, gram_loss<9>, adamw>, cpu> fixed{seed(2)};
  CHECK(bounded(rows(9)).loss == Approx(float(fixed(rows(9)).loss)).epsilon(1e-5));
  double furthest = 0, largest = 0;
  for (std::size_t i = 0; i < fixed.elements(1).size(); ++i) {
    keep_furthest(furthest, std::abs(static_cast<double>(bounded.elements(1)[i]) - static_cast<double>(fixed.elements(1)[i])));
    keep_furthest(largest, std::abs(static_cast<double>(fixed.elements(1)[i])));
  }
  CHECK(largest > 0.01);
  CHECK(furthest < 1e-5 * largest);
}

TEST_CASE("no rows at all leave no gradient") {
  executor<step<dyn<most>>, cpu> run{seed(2)};
  run(rows(most));
  run.reset_optimizer();
  CHECK(run(rows(0)).loss == 0.0f);
  for (float m : run.elements(1)) REQUIRE(m == 0.0f);
}
