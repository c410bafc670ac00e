// A part of a program that infers: dropout does nothing there, and does around it.
#include <tx/expr/inference.hpp>

#include <tx/backends/cpu.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/mse.hpp>
#include <tx/ops/stop_gradient.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

using matrix = tx::tensor<float, 16, 8>;

struct network {
  tx::nn::linear<8, 8> dense;
  constexpr auto operator()(auto const& x) const { return tx::dropout(dense(tx::dropout(x))); }
};
struct both {
  network teacher, student;
};
struct told {
  tx::tensor<float> loss;
  matrix wanted, first, second;
};
constexpr auto distil = [](both const& m, matrix x) {
  auto const first = m.student(x);
  auto const wanted = tx::stop_gradient(tx::inference(m.teacher)(x));
  auto const second = m.student(x);
  return told{tx::mse(first, wanted) + tx::mse(second, wanted), wanted, first, second};
};
// What is called may end with the expression.
constexpr auto dropped_nowhere = [](both const& m, matrix x) {
  auto const infers = tx::inference([&](auto const& a) { return m.teacher(a); });
  auto const copy = tx::inference(network(m.teacher));
  return told{tx::mse(infers(x), copy(x)), infers(x), m.teacher(x), copy(x)};
};
constexpr auto teach = [](both const& m, matrix x) { return m.teacher(x); };

std::vector<float> numbers() {
  std::vector<float> v;
  for (int i = 0; i < 128; ++i) v.push_back(static_cast<float>(i % 11) * 0.25f - 1);
  return v;
}
template <class T>
std::vector<float> all(T const& t) {
  return {t.begin(), t.end()};
}
int zeros(std::vector<float> const& v) {
  int n = 0;
  for (float x : v) n += x == 0;
  return n;
}

}  // namespace

TEST_CASE("a teacher in a training program computes what it does in inference, its student drops before and behind it") {
  using step = tx::train_step<both, distil, tx::sgd>;
  tx::executor<step, tx::cpu> train{tx::seed(5)};
  tx::executor<tx::function<teach, both>, tx::cpu> infer{train};
  train.settings["dropout"] = 0.5f;
  train.settings["learning_rate"] = 0;
  auto const wanted = all(infer(numbers()).value);
  auto const r = train(numbers());
  CHECK(all(r.wanted) == wanted);
  CHECK(zeros(wanted) == 0);
  CHECK(zeros(all(r.first)) > 40);
  CHECK(zeros(all(r.second)) > 40);
  CHECK(all(r.first) != all(r.second));
}

TEST_CASE("what infers may be made where it is named") {
  tx::executor<tx::train_step<both, dropped_nowhere, tx::sgd>, tx::cpu> train{tx::seed(5)};
  tx::executor<tx::function<teach, both>, tx::cpu> infer{train};
  train.settings["dropout"] = 0.5f;
  auto const wanted = all(infer(numbers()).value);
  auto const r = train(numbers());
  CHECK(all(r.wanted) == wanted);
  CHECK(all(r.second) == wanted);
  CHECK(zeros(all(r.first)) > 32);
}
