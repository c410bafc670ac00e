// What a run hands back: scalars are plain numbers, other tensors views, a struct of the caller's is itself.
#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using tx::tensor;
using model = tx::nn::linear<4, 2>;
constexpr auto loss = [](model const& m, tensor<float, 3, 4> x) { return tx::mean(m(x) * m(x)); };
constexpr auto output = [](model const& m, tensor<float, 3, 4> x) { return m(x); };
struct both_of {
  tensor<float> loss;
  tensor<float, 3, 2> output;
};
constexpr auto both = [](model const& m, tensor<float, 3, 4> x) { return both_of{loss(m, x), output(m, x)}; };
std::vector<float> const x{1, -2, 3, 0.5f, 2, 1, -1, 4, 0, 0.25f, -3, 1};

}  // namespace

TEST_CASE("a scalar that a run hands back is a number") {
  tx::executor<tx::train_step<model, loss, tx::sgd, tx::gradient_norm>, tx::cpu> step{tx::seed(7)};
  tx::executor<tx::function<loss, model>, tx::cpu> value{tx::seed(7)};
  tx::executor<tx::value_and_grad<loss, model>, tx::cpu> gradient{tx::seed(7)};
  auto const trained = step(x);
  auto const r = gradient(x);
  static_assert(std::is_same_v<decltype(trained.loss), float> && std::is_same_v<decltype(trained.gradient_norm), float>);
  static_assert(std::is_same_v<decltype(value(x).value), float> && std::is_same_v<decltype(r.value), float>);
  float const of = value(x).value;
  CHECK(of > 0);
  CHECK(trained.loss * 2 == of * 2);
  CHECK(r.value == of);
  char text[32], wanted[32];
  std::snprintf(text, sizeof text, "%f", trained.loss);  // an ellipsis takes it as it is
  std::snprintf(wanted, sizeof wanted, "%f", static_cast<double>(of));
  CHECK(std::string(text) == wanted);
  double squares = 0;
  for (float g : r.gradient) squares += static_cast<double>(g) * static_cast<double>(g);
  CHECK(trained.gradient_norm == Approx(std::sqrt(squares)));
}

TEST_CASE("a number of one run stays when the next one has begun") {
  tx::executor<tx::function<loss, model>, tx::cpu> value{tx::seed(7)};
  auto const first = value(x);
  float const then = first.value;
  value(std::vector<float>(12));
  CHECK(first.value == then);
}

TEST_CASE("what is no scalar is a view, and a struct stays what it is") {
  tx::executor<tx::function<output, model>, tx::cpu> run{tx::seed(7)};
  tx::executor<tx::function<both, model>, tx::cpu> together{tx::seed(7)};
  auto const alone = run(x).value;
  static_assert(decltype(alone)::dims[0] == 3 && decltype(alone)::dims[1] == 2);
  CHECK(alone.size() == 6);
  auto const r = together(x);
  CHECK(std::vector<float>(r.output.begin(), r.output.end()) == std::vector<float>(alone.begin(), alone.end()));
  double sum = 0;
  for (float y : alone) sum += static_cast<double>(y) * static_cast<double>(y);
  CHECK(float(r.loss) == Approx(sum / 6));
  CHECK_THROWS_WITH(r.loss * 2, Catch::Contains("FIX: float(x)"));
}
