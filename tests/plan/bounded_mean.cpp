// A mean or variance over a bounded axis is over the rows that there are: a step on some of them is the step that was compiled for so many.
#include "../furthest.hpp"

#include <tx/autodiff/grad.hpp>
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/variance.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <algorithm>

namespace {

constexpr int most = 16, width = 4, classes = 3;
struct model {
  tx::nn::linear<width, classes> out;
};
template <auto Rows>
constexpr auto loss = [](model const& m, tx::tensor<float, Rows, width> x, tx::tensor<tx::i32, Rows> y) { return tx::cross_entropy(m.out(x), y); };
template <auto Rows>
using step = tx::train_step<model, loss<Rows>, tx::sgd, tx::clip_gradient>;

std::vector<float> inputs(int rows) {
  std::vector<float> v;
  for (int i = 0; i < rows * width; ++i) v.push_back(static_cast<float>(i % 13) * 0.25f - 1);
  return v;
}
std::vector<tx::i32> labels(int rows) {
  std::vector<tx::i32> v;
  for (int i = 0; i < rows; ++i) v.push_back(i * 7 % classes);
  return v;
}

template <class Backend, int Rows>
double distance_from_fixed() {
  tx::executor<step<tx::dyn<most>>, Backend> bounded{tx::seed(2)};
  tx::executor<step<Rows>, Backend> fixed{tx::seed(2)};
  bounded(inputs(most), labels(most));  // leaves a full batch in the arena
  std::copy(fixed.elements().begin(), fixed.elements().end(), bounded.elements().begin());
  double furthest = 0;
  for (int s = 0; s < 3; ++s) {
    float const told = bounded(inputs(Rows), labels(Rows)).loss, wanted = fixed(inputs(Rows), labels(Rows)).loss;
    keep_furthest(furthest, std::abs(static_cast<double>(told) - static_cast<double>(wanted)));
  }
  for (std::size_t i = 0; i < fixed.elements().size(); ++i)
    keep_furthest(furthest, std::abs(static_cast<double>(bounded.elements()[i]) - static_cast<double>(fixed.elements()[i])));
  return furthest;
}

}  // namespace

TEST_CASE("a classifier trains on a bounded batch") {
  CHECK(distance_from_fixed<tx::cpu, most>() < 1e-6);
  CHECK(distance_from_fixed<tx::cpu, 5>() < 1e-6);
  CHECK(distance_from_fixed<tx::cpu, 1>() < 1e-6);
  CHECK(distance_from_fixed<tx::reference, 5>() < 1e-6);
}

TEST_CASE("no rows have no loss and move nothing") {
  tx::executor<step<tx::dyn<most>>, tx::cpu> run{tx::seed(2)};
  for (auto& group : run.settings.groups) group.decay = 0;
  std::vector<float> const before(run.elements().begin(), run.elements().end());
  CHECK(static_cast<float>(run(std::vector<float>{}, std::vector<tx::i32>{}).loss) == 0);
  CHECK(std::equal(before.begin(), before.end(), run.elements().begin()));
}

TEST_CASE("means over the rows, over all, and over columns") {
  constexpr auto f = [](tx::tensor<float, tx::dyn<most>, 3> x) {
    struct result {
      tx::tensor<float, 1, 3> of_columns;
      tx::tensor<float> of_all;
      tx::tensor<float, tx::dyn<most>, 1> of_rows;
    };
    return result{tx::mean<0>(x), tx::mean(x), tx::mean<1>(x)};
  };
  tx::executor<tx::function<f>, tx::cpu> run;
  run(std::vector<float>(most * 3, 100.0f));
  auto const r = run(std::vector<float>{1, 2, 3, 5, 8, 12});
  CHECK(std::vector<float>(r.of_columns.begin(), r.of_columns.end()) == std::vector<float>{3, 5, 7.5f});
  CHECK(static_cast<float>(r.of_all) == Approx(31.0f / 6));
  REQUIRE(r.of_rows.size() == 2);
  CHECK(r.of_rows[0] == Approx(2));
  CHECK(r.of_rows[1] == Approx(25.0f / 3));
}

namespace {
constexpr auto spread = [](auto const& x) { return tx::variance(x); };
struct variances {
  tx::tensor<float, 1, 3> of_columns;
  tx::tensor<float> of_all, of_elements;
  tx::tensor<float, 1, 3> gradient;
};
template <auto Rows>
constexpr auto all_variances = [](tx::tensor<float, Rows, 3> x) {
  return variances{tx::variance<0>(x), tx::variance(x), tx::variance(x, 0), tx::sum<0>(tx::grad<spread>(x) * x)};
};
}  // namespace

TEST_CASE("variances over the rows, over all, and over columns; their gradients") {
  tx::executor<tx::function<all_variances<tx::dyn<most>>>, tx::cpu> of_bounded;
  tx::executor<tx::function<all_variances<2>>, tx::cpu> of_fixed;
  of_bounded(std::vector<float>(most * 3, 100.0f));
  std::vector<float> const x{1, 2, 3, 5, 8, 12};
  auto const told = of_bounded(x);
  auto const wanted = of_fixed(x);
  CHECK(told.of_columns[2] == Approx(40.5));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(told.of_columns[i] == Approx(wanted.of_columns[i]));
    CHECK(told.gradient[i] == Approx(wanted.gradient[i]).margin(1e-5));
  }
  CHECK(static_cast<float>(told.of_all) == Approx(static_cast<float>(wanted.of_all)));
  CHECK(static_cast<float>(told.of_elements) == Approx(static_cast<float>(wanted.of_elements)));
  for (std::size_t const rows : {0u, 1u}) {
    auto const few = of_bounded(std::span(x).first(rows * 3));
    for (std::size_t i = 0; i < 3; ++i) CHECK(few.of_columns[i] == 0);
    if (rows == 0) CHECK(static_cast<float>(few.of_all) == 0);
  }
}
