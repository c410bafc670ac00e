// What a student learns by, against its formulas in f64 and central differences.
#include "recorded.hpp"

#include <tx/backends/reference.hpp>
#include <tx/nn/distillation.hpp>
#include <tx/train/check_gradient.hpp>

#include <catch2/catch.hpp>

namespace {

template <class T, auto... Dims>
using t = tx::tensor<T, Dims...>;

static_assert(tx::nn::taught_by(0, 3, 6) == 1 && tx::nn::taught_by(1, 3, 6) == 3 && tx::nn::taught_by(2, 3, 6) == 5);
static_assert(tx::nn::taught_by(0, 2, 5) == 1 && tx::nn::taught_by(1, 2, 5) == 4 && tx::nn::taught_by(3, 4, 4) == 3);

// Integers have no gradient, as a teacher has none.
constexpr auto soft = [](t<double, 2, 3> student, t<tx::i32, 2, 3> teacher) { return tx::nn::distillation_loss(student, tx::cast<double>(teacher), 2.5); };
constexpr auto both = [](t<double, 2, 3> student, t<double, 2, 3> teacher) { return tx::nn::distillation_loss(student, teacher, 2.5); };
constexpr auto apart = [](t<double, 2, 3, 2> student, t<tx::i32, 5, 3, 2> teacher) { return tx::nn::hidden_state_loss(student, tx::cast<double>(teacher)); };
// [student, teacher]
constexpr auto slopes = [](t<double, 2, 3> student, t<double, 2, 3> teacher) { return tx::grad<both, 0, 1>(student, teacher); };

values numbers(std::size_t n) {
  values v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = 2 * std::sin(2.1 * static_cast<double>(i) + 0.5);
  return v;
}

}  // namespace

TEST_CASE("soft scores are learned by T^2 KL(teacher || student) at a temperature", "[distillation]") {
  values const student = numbers(6), teacher{2, -1, 0, 1, 3, -2};
  double expected = 0;
  for (std::size_t row = 0; row < 2; ++row) {
    double of_student = 0, of_teacher = 0;
    for (std::size_t c = 0; c < 3; ++c) of_student += std::exp(student[row * 3 + c] / 2.5), of_teacher += std::exp(teacher[row * 3 + c] / 2.5);
    for (std::size_t c = 0; c < 3; ++c) {
      double const p = std::exp(teacher[row * 3 + c] / 2.5) / of_teacher;
      expected += p * std::log(p / (std::exp(student[row * 3 + c] / 2.5) / of_student));
    }
  }
  expected *= 2.5 * 2.5 / 2;
  CHECK(recorded<tx::no_model, both>().run({student, teacher})[0][0] == Approx(expected).epsilon(1e-12));
  CHECK(recorded<tx::no_model, both>().run({student, student})[0][0] == Approx(0).margin(1e-12));

  std::vector<tx::i32> const whole(teacher.begin(), teacher.end());
  auto const worst = tx::check_gradient<soft, tx::reference>(student, whole);
  INFO(worst.text());
  CHECK(worst.distance < 1e-8);
  auto const both_slopes = recorded<tx::no_model, slopes>().run({student, teacher});
  CHECK(both_slopes[1] == values(6, 0.0));  // the teacher's
}

TEST_CASE("each layer is as far from the one that it is taught by as their mean squared difference", "[distillation]") {
  values const student = numbers(12);
  values teacher(30);
  for (std::size_t i = 0; i < 30; ++i) teacher[i] = static_cast<double>(i * 7 % 5) - 2;
  double expected = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    double const first = student[i] - teacher[1 * 6 + i], second = student[6 + i] - teacher[4 * 6 + i];
    expected += (first * first + second * second) / 12;
  }
  CHECK(recorded<tx::no_model, apart>().run({student, teacher})[0][0] == Approx(expected).epsilon(1e-12));
  std::vector<tx::i32> const whole(teacher.begin(), teacher.end());
  auto const worst = tx::check_gradient<apart, tx::reference>(student, whole);
  INFO(worst.text());
  CHECK(worst.distance < 1e-8);
}
