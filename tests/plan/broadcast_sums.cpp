// Sums over rows of what is the same in every column: each column has its sum, as the gradient of a vector has that is
// only read by what adds up its columns.
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/square.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <cmath>

namespace {

using namespace tx;

struct net {
  param<tensor<float, 24>, init::zeros> direct, of_rows, scaled;
  param<tensor<float, 1>, init::zeros> one;
};
constexpr auto loss = [](net const& m, tensor<float, 5, 24> x) {
  auto const one = mean(square(sum<-1>(x) + m.one));
  return mean(x + m.direct) + mean(square(sum<-1>(x + m.of_rows))) + mean(exp(sum<-1>((x + m.scaled) * 0.5)) * 3) + one;
};

template <class Backend>
void check() {
  executor<value_and_grad<loss, net>, Backend> run{seed(0)};
  std::vector<float> x(5 * 24);
  double squares = 0, exps = 0;
  for (std::size_t r = 0; r < 5; ++r) {
    double sum = 0;
    for (std::size_t c = 0; c < 24; ++c)
      sum += static_cast<double>(x[24 * r + c] = std::sin(static_cast<float>(24 * r + c)) / 8);
    squares += 2 * sum / 5;
    exps += 3 * 0.5 * std::exp(0.5 * sum) / 5;
  }
  auto const gradients = run(x).gradient.tensors();
  REQUIRE(gradients.size() == 4);
  double const wanted[] = {1.0 / 24, squares, exps, squares};
  for (std::size_t k = 0; k < 4; ++k)
    for (float g : gradients[k].data) CHECK(static_cast<double>(g) == Approx(wanted[k]).epsilon(1e-5));
}

}  // namespace

TEST_CASE("sums over rows of values without columns, on the CPU") { check<cpu>(); }
TEST_CASE("sums over rows of values without columns, on the reference backend") { check<reference>(); }
