// check_gradient: right rules are near their differences, wrong ones are found and named.
#include <tx/autodiff/custom_vjp.hpp>
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/train/check_gradient.hpp>

#include <catch2/catch.hpp>

#include <cmath>

namespace {

using namespace tx;

template <class T>
constexpr auto right = [](tensor<T, 3, 4> x, tensor<i32, 3> label, tensor<T, 4> shift) {
  return cross_entropy(tanh(x) * x + shift, label);
};
// Half of its gradient.
constexpr auto lazy = custom_vjp<[](auto const& x) { return with_saved(x * x, x); },
                                 [](auto const& x, auto const& g) { return g * x; }>;
struct report {
  tensor<f64> value, other;
};
constexpr auto wrong = [](tensor<f64, 3> a, tensor<f64, 4> b) { return report{sum(a * a) + sum(lazy(b)), sum(a)}; };

struct net {
  nn::linear<4, 3> first;
  frozen_module<nn::linear<3, 3>> fixed;
  nn::linear<3, 2> out;
  constexpr auto operator()(auto const& x) const { return out(dropout(tanh(fixed(first(x))))); }
};
constexpr auto loss = [](net const& m, tensor<float, 5, 4> x, tensor<i32, 5> y) { return cross_entropy(m(x), y); };

template <class T>
std::vector<T> numbers(int count) {
  std::vector<T> x;
  for (int i = 0; i < count; ++i) x.push_back(static_cast<T>(std::sin(1.0 + 2.0 * i)));
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("a right gradient is near differences", "[check_gradient]", f32, f64) {
  std::vector<i32> const labels{0, 3, 1};
  auto const worst =
      check_gradient<right<TestType>, reference>(numbers<TestType>(12), labels, numbers<TestType>(4));
  INFO(worst.text());
  CHECK(worst.distance < (std::is_same_v<TestType, f64> ? 1e-8 : 1e-3));
  CHECK(worst.distance > 0);
  CHECK((worst.of == "argument 0" || worst.of == "argument 2"));
}

TEST_CASE("a wrong gradient is found and named", "[check_gradient]") {
  auto const worst = check_gradient<wrong, reference>(numbers<f64>(3), std::vector<f64>{0.25, 0.125, -2, 0.25});
  CHECK(worst.of == "argument 1");
  CHECK(worst.element == 2);
  CHECK(worst.told == Approx(-2));
  CHECK(worst.measured == Approx(-4));
  CHECK(worst.distance == Approx(0.5));
  CHECK(worst.text() == "argument 1, element 2: the gradient is -2.000000, differences are -4.000000");
  auto const none = check_gradient<wrong, reference>(numbers<f64>(3), std::vector<f64>{0, 1, std::nan(""), 0});
  CHECK(std::isinf(none.distance));
}

struct counts {
  tx::param<tensor<float>, init::uniform<1, 1>> weight;
  tx::state<tensor<float>> seen;
};
constexpr auto counted_loss = [](counts const& m, tensor<float> x) {
  m.seen.set(m.seen + 1.0f);
  return m.weight * x * (m.seen + 2.0f);
};

TEST_CASE("a state is the same in each run that is compared", "[check_gradient]") {
  auto const worst = check_gradient<counted_loss, cpu, counts>(std::vector<float>{3});
  INFO(worst.text());
  CHECK(worst.distance < 1e-3);
}

TEST_CASE("the gradient by a model's parameters", "[check_gradient]") {
  auto const worst = check_gradient<loss, cpu, net>(numbers<float>(20), std::vector<i32>{0, 1, 1, 0, 1});
  INFO(worst.text());
  CHECK(worst.distance < 1e-3);
  CHECK(worst.of.find("fixed") == std::string::npos);
  CHECK_THROWS_AS((check_gradient<loss, cpu, net>(numbers<float>(19), std::vector<i32>{0, 1, 1, 0, 1})), shape_error);
}
