// A training step whose loss holds gradients: a penalty on the slope by the input and on the gradient by the
// parameters, through repeated blocks, a frozen module and a rule of one's own; compiled for both backends, against
// plain descent along the interpreter's gradients.
#include "../ops/grad_program.hpp"

#include <tx/autodiff/custom_vjp.hpp>
#include <tx/autodiff/hessian_vector.hpp>
#include <tx/ops/floor.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

template <class Tensor, class Group = not_decayed>
using p = param<Tensor, init::uniform<1, 2>, Group>;

constexpr auto rounded =
    custom_vjp<[](auto const& x) { return floor(x * 8 + 0.5) / 8; }, [](auto const& gradient) { return gradient; }>;

template <class T>
struct block {
  p<tensor<T, 5, 5>> mix;
  p<tensor<T, 5>> shift;
  constexpr auto operator()(auto const& x) const { return x + tanh(matmul(x, rounded(mix)) + shift); }
};
template <class T>
struct critic {
  frozen_module<block<T>> first;
  repeat<3, block<T>> layers;
  p<tensor<T, 5, 1>> out;
  constexpr auto operator()(auto const& x) const { return matmul(layers(first(x)), out); }
};
constexpr auto score = [](auto const& m, auto const& x) { return mean(m(x)); };
constexpr auto total = [](auto const& x, auto const& m) { return sum(m(x)); };
template <class T>
constexpr auto loss = [](critic<T> const& m, tensor<T, 4, 5> real, tensor<T, 4, 5> made) {
  auto const slope = grad<total>(real, m);                      // [4, 5]: rows do not meet
  auto const excess = sqrt(sum<1>(slope * slope) + 1e-12) - 1;  // Gulrajani et al., arXiv 1704.00028
  auto const g = grad<score>(m, made);
  return score(m, made) - score(m, real) + mean(excess * excess) * 10 + inner_product(g, g) * 0.1;
};

struct batch {
  values real, made;
  batch() : real(20), made(20) {
    for (std::size_t i = 0; i < 20; ++i) {
      real[i] = std::sin(1.7 * static_cast<double>(i));
      made[i] = std::cos(0.9 * static_cast<double>(i));
    }
  }
};

template <class Backend>
void check_training() {
  executor<train_step<critic<double>, loss<double>, sgd>, Backend> run{seed(4), {.threads = 2}};
  constexpr auto trained = static_cast<std::size_t>(layout<critic<double>>::trained);
  run.settings["learning_rate"] = 0.02f;
  values parameters(run.elements().begin(), run.elements().end());
  batch const b;
  double first = 0, last = 0;
  for (int t = 0; t < 6; ++t) {
    auto const wanted = interpreted<critic<double>, loss<double>>(parameters, {b.real, b.made});
    last = run(b.real, b.made).loss;
    if (t == 0) first = last;
    CHECK(last == Approx(wanted[0][0]).epsilon(1e-10));
    for (std::size_t i = 0; i < trained; ++i)
      parameters[i] -= static_cast<double>(0.02f) * wanted[1][i];  // the frozen ones stay
    CHECK(distance(values(run.elements().begin(), run.elements().end()), parameters) < 1e-10);
  }
  CHECK(last < 0.9 * first);
}

// A step over two batches, in parts or shards, is one along the mean of their gradients.
template <class Option>
void check_divided() {
  executor<train_step<critic<double>, loss<double>, sgd, Option>, reference> run{seed(4)};
  run.settings["learning_rate"] = 0.5f;
  batch const b;
  values real = b.real, made = b.made;
  values parameters(run.elements().begin(), run.elements().end());
  values const start = parameters;
  for (double sign : {1.0, -0.5}) {
    values other_real = b.real, other_made = b.made;
    for (std::size_t i = 0; i < 20; ++i) other_real[i] *= sign, other_made[i] *= sign;
    auto const one = interpreted<critic<double>, loss<double>>(start, {other_real, other_made});
    for (std::size_t i = 0; i < static_cast<std::size_t>(layout<critic<double>>::trained); ++i)
      parameters[i] -= 0.25 * one[1][i];
    if (sign == 1) continue;
    real.insert(real.end(), other_real.begin(), other_real.end());
    made.insert(made.end(), other_made.begin(), other_made.end());
  }
  run(real, made);
  CHECK(distance(values(run.elements().begin(), run.elements().end()), parameters) < 1e-10);
}

// A program of its own: values and gradients by two arguments, handed out as they come.
constexpr auto squashed = [](tensor<double, 4, 5> x, tensor<double, 5, 1> w) { return sum(tanh(matmul(x, w))); };

// What a program of the loss with such options records, by the interpreter, which rounds nothing.
template <class... Options>
std::vector<values> recorded(std::int64_t activations) {
  graph g{};
  value_and_grad<loss<float>, critic<float>, Options...>::record(g, cpu_target, activations);
  batch const b;
  evaluator const result(verify(g), [&](node const& leaf) {
    if (leaf.op == &input_info) return leaf.at.v[0] == 0 ? b.real : b.made;
    values v(static_cast<std::size_t>(leaf.info.count()));
    for (std::size_t i = 0; i < v.size(); ++i)
      v[i] = 0.4 * std::sin(2.3 * static_cast<double>(i + static_cast<std::size_t>(leaf.at.v[0])));
    return v;
  });
  return {result[g.outputs[0].value], result[g.outputs[1].value]};
}

}  // namespace

TEST_CASE("a gradient penalty trains: reference", "[penalty]") { check_training<reference>(); }
TEST_CASE("a gradient penalty trains: cpu", "[penalty]") { check_training<cpu>(); }

TEST_CASE("a gradient penalty in parts of a batch", "[penalty]") { check_divided<accumulate<2>>(); }
TEST_CASE("a gradient penalty in shards", "[penalty]") { check_divided<virtual_shards<2>>(); }

TEST_CASE("a program hands out gradients by two arguments", "[penalty]") {
  executor<function<with_grad<squashed, 0, 1>>, cpu> run{seed(0)};
  batch const b;
  values const w{0.5, -0.25, 1, 0.125, -1};
  auto const r = run(b.real, w);
  auto const& [dx, dw] = r.gradient;
  double sum = 0;
  values wanted_dx(20), wanted_dw(5);
  for (std::size_t i = 0; i < 4; ++i) {
    double z = 0;
    for (std::size_t j = 0; j < 5; ++j) z += b.real[5 * i + j] * w[j];
    sum += std::tanh(z);
    double const slope = 1 - std::tanh(z) * std::tanh(z);
    for (std::size_t j = 0; j < 5; ++j) wanted_dx[5 * i + j] = slope * w[j];
    for (std::size_t j = 0; j < 5; ++j) wanted_dw[j] += slope * b.real[5 * i + j];
  }
  CHECK(r.value == Approx(sum).epsilon(1e-12));
  CHECK(distance(values(dx.begin(), dx.end()), wanted_dx) < 1e-12);
  CHECK(distance(values(dw.begin(), dw.end()), wanted_dw) < 1e-12);
}

TEST_CASE("values computed again, and products of halves, have the same gradients", "[penalty]") {
  auto const wanted = recorded<>(-1);
  CHECK(std::any_of(wanted[1].begin(), wanted[1].end(), [](double g) { return std::abs(g) > 0.5; }));
  for (auto const& other : {recorded<recompute<1>>(0), recorded<mixed<bf16>>(-1)})
    for (std::size_t k = 0; k < 2; ++k) CHECK(distance(other[k], wanted[k]) < 1e-12);
}
