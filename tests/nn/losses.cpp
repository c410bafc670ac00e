// The in-batch softmax loss, sentence-transformers' MultipleNegativesRankingLoss, and that of answers in texts, against their formulas in f64 and central
// differences.
#include "recorded.hpp"

#include <tx/backends/reference.hpp>
#include <tx/nn/answer_loss.hpp>
#include <tx/nn/losses.hpp>
#include <tx/train/check_gradient.hpp>

#include <catch2/catch.hpp>

namespace {

constexpr auto in_batch = [](tx::tensor<double, 4, 3> first, tx::tensor<double, 4, 3> second) { return tx::nn::in_batch_softmax_loss(first, second); };
constexpr auto answers = [](tx::tensor<double, tx::dyn<9>, 2> logits, tx::tensor<tx::i32, 4> offsets, tx::tensor<tx::i32, 3> first, tx::tensor<tx::i32, 3> last) {
  return tx::nn::answer_loss(logits, offsets, first, last);
};

}  // namespace

TEST_CASE("a text finds its own among the batch by the softmax of twenty times the cosine") {
  values first(12), second(12);
  for (std::size_t i = 0; i < 12; ++i) {
    first[i] = std::sin(2.1 * static_cast<double>(i) + 0.5);
    second[i] = first[i] + 0.7 * std::cos(1.3 * static_cast<double>(i));
  }
  auto const dot = [](double const* a, double const* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
  double expected = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    double own = 0, all = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      double const *a = &first[i * 3], *b = &second[j * 3];
      double const score = 20 * dot(a, b) / std::sqrt(dot(a, a) * dot(b, b));
      all += std::exp(score);
      if (i == j) own = score;
    }
    expected += (std::log(all) - own) / 4;
  }
  CHECK(recorded<tx::no_model, in_batch>().run({first, second})[0][0] == Approx(expected).epsilon(1e-9));
  auto const worst = tx::check_gradient<in_batch, tx::reference>(first, second);
  INFO(worst.text());
  CHECK(worst.distance < 1e-7);
}

TEST_CASE("the ends of an answer are told among the tokens of its own text") {
  std::vector<tx::i32> const offsets{0, 4, 5, 7}, first{1, 4, 5}, last{3, 4, 6};  // of nine tokens at most there are seven
  values logits(14);
  for (std::size_t i = 0; i < 14; ++i) logits[i] = 2 * std::sin(1.7 * static_cast<double>(i) + 0.2);
  double expected = 0;
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t end = 0; end < 2; ++end) {
      double all = 0;
      for (auto k = static_cast<std::size_t>(offsets[t]); k < static_cast<std::size_t>(offsets[t + 1]); ++k) all += std::exp(logits[2 * k + end]);
      expected += (std::log(all) - logits[2 * static_cast<std::size_t>(end == 0 ? first[t] : last[t]) + end]) / 6;
    }
  tx::executor<tx::function<answers>, tx::reference> run{tx::seed(0)};
  CHECK(static_cast<double>(run(logits, offsets, first, last).value) == Approx(expected).epsilon(1e-12));
  auto const worst = tx::check_gradient<answers, tx::reference>(logits, offsets, first, last);
  INFO(worst.text());
  CHECK(worst.distance < 1e-8);
}
