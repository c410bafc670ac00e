// Dropout with a rate of its own: which elements are left out, and how the others are scaled.
#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/full.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

constexpr int rows = 40, columns = 50;
using matrix = tx::tensor<float, rows, columns>;

struct model {
  tx::param<tx::tensor<float, 1>> w;
};
struct told {
  tx::tensor<float> loss;
  matrix dropped;
};
template <class X>
constexpr told weighed(model const& m, X const& dropped) {
  return {tx::sum(dropped) * tx::sum(m.w), dropped};
}
constexpr auto of_settings = [](model const& m, matrix x) { return weighed(m, tx::dropout(x)); };
constexpr auto a_quarter = [](model const& m, matrix x) { return weighed(m, tx::dropout(x, 0.25)); };
constexpr auto as_told = [](model const& m, matrix x, tx::tensor<float> rate) { return weighed(m, tx::dropout(x, rate)); };
constexpr auto of_halves = [](model const& m, matrix x) { return weighed(m, tx::cast<float>(tx::dropout(tx::cast<tx::bf16>(x), 0.3))); };
constexpr auto two_rates = [](model const& m, matrix x) { return weighed(m, tx::dropout(tx::dropout(x, 0.5), 0.0)); };

std::vector<float> const& numbers() {
  static std::vector<float> const all = [] {
    std::vector<float> v;
    for (int i = 0; i < rows * columns; ++i) v.push_back(static_cast<float>(i % 9) + 1);
    return v;
  }();
  return all;
}

template <auto Loss, class... More>
std::vector<float> dropped(float of_step, More const&... more) {
  tx::executor<tx::train_step<model, Loss, tx::adamw>, tx::cpu> run{tx::seed(11), {.threads = 1}};
  run.settings.set("dropout", of_step);
  auto const r = run(numbers(), more...);
  return {r.dropped.begin(), r.dropped.end()};
}

double share_of_zeros(std::vector<float> const& v) {
  std::size_t zeros = 0;
  for (float x : v) zeros += x == 0;
  return static_cast<double>(zeros) / static_cast<double>(v.size());
}

}  // namespace

TEST_CASE("a rate of its own is the step's rate at the same number, whatever that is set to") {
  auto const wanted = dropped<of_settings>(0.25f);
  CHECK(dropped<a_quarter>(0.75f) == wanted);
  CHECK(dropped<as_told>(0.75f, std::vector<float>{0.25f}) == wanted);
  CHECK(share_of_zeros(wanted) == Approx(0.25).margin(0.03));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i] != 0) CHECK(wanted[i] == Approx(numbers()[i] / 0.75f));
}

TEST_CASE("a rate that comes with a run is that run's") {
  CHECK(dropped<as_told>(0.5f, std::vector<float>{0.0f}) == numbers());
  CHECK(share_of_zeros(dropped<as_told>(0.0f, std::vector<float>{0.9f})) == Approx(0.9).margin(0.03));
  CHECK(dropped<as_told>(0.5f, std::vector<float>{-0.5f}) == numbers());
  for (float const all : {1.0f, 2.0f}) CHECK(share_of_zeros(dropped<as_told>(0.5f, std::vector<float>{all})) == 1);
}

TEST_CASE("where everything is left out the gradient is 0") {
  constexpr auto f = [](model const& m, matrix x, tx::tensor<float> rate) { return tx::sum(tx::dropout(x * tx::sum(m.w), rate)); };
  tx::executor<tx::train_step<model, f, tx::adamw>, tx::cpu> run{tx::seed(11), {.threads = 1}};
  for (auto& group : run.settings.groups) group.decay = 0;
  auto const before = run.read();
  CHECK(run(numbers(), std::vector<float>{1.0f}).loss == 0);
  CHECK(run.read() == before);
  run(numbers(), std::vector<float>{0.5f});
  CHECK(run.read() != before);
}

TEST_CASE("a rate is not rounded to halves, and several rates go together") {
  auto const halves = dropped<of_halves>(0.9f);
  CHECK(share_of_zeros(halves) == Approx(0.3).margin(0.04));
  for (std::size_t i = 0; i < halves.size(); ++i)
    if (halves[i] != 0) CHECK(halves[i] == Approx(numbers()[i] / 0.7f).epsilon(0x1p-7));
  auto const both = dropped<two_rates>(0.9f);
  CHECK(share_of_zeros(both) == Approx(0.5).margin(0.04));
  for (std::size_t i = 0; i < both.size(); ++i)
    if (both[i] != 0) CHECK(both[i] == numbers()[i] * 2);
}

TEST_CASE("inference drops nothing, whatever the rate") {
  constexpr auto f = [](model const&, matrix x, tx::tensor<float> rate) { return tx::dropout(tx::dropout(x, 0.5), rate); };
  tx::executor<tx::function<f, model>, tx::cpu> run{tx::seed(0)};
  auto const r = run(numbers(), std::vector<float>{0.5f}).value;
  CHECK(std::vector<float>(r.begin(), r.end()) == numbers());
}

TEST_CASE("one number everywhere") {
  constexpr auto f = [](tx::tensor<float, 2, 3> x, tx::tensor<tx::i32, 4> n) {
    struct result {
      tx::tensor<float, 2, 3> halves, zeros, ones;
      tx::tensor<tx::i32, 4> sevens;
    };
    return result{tx::full(x, 0.5), tx::zeros(x), tx::ones(x), tx::full(n, 7)};
  };
  constexpr auto of_bool = [](tx::tensor<bool, 2> x) {
    struct result {
      tx::tensor<bool, 2> none, all, two;
    };
    return result{tx::zeros(x), tx::ones(x), tx::full(x, 2)};
  };
  tx::executor<tx::function<f>, tx::cpu> run;
  auto const r = run(std::vector<float>(6, 3.0f), std::vector<tx::i32>(4));
  CHECK(std::vector<float>(r.halves.begin(), r.halves.end()) == std::vector<float>(6, 0.5f));
  CHECK(std::vector<float>(r.zeros.begin(), r.zeros.end()) == std::vector<float>(6, 0.0f));
  CHECK(std::vector<float>(r.ones.begin(), r.ones.end()) == std::vector<float>(6, 1.0f));
  CHECK(std::vector<tx::i32>(r.sevens.begin(), r.sevens.end()) == std::vector<tx::i32>(4, 7));
  tx::executor<tx::function<of_bool>, tx::cpu> flags;
  auto const b = flags(std::array<bool, 2>{true, false});
  CHECK((!b.none[0] && !b.none[1] && b.all[0] && b.all[1] && b.two[0] && b.two[1]));
}
