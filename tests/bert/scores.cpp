// Scores against values worked out by hand and by scikit-learn's and SciPy's definitions.
#include "../../examples/bert/scores.hpp"

#include <catch2/catch.hpp>

TEST_CASE("scores of labels", "[bert]") {
  // wanted 0: three texts, told 0 0 1; wanted 1: two texts, told 1 2; wanted 2: one text, told 2
  std::vector<int> const wanted{0, 0, 0, 1, 1, 2}, told{0, 0, 1, 1, 2, 2};
  bert::label_scores const s(3, wanted, told);
  CHECK(s.accuracy() == Approx(4.0 / 6));
  CHECK(s.precision(0) == Approx(1));
  CHECK(s.recall(0) == Approx(2.0 / 3));
  CHECK(s.f1(0) == Approx(0.8));
  CHECK(s.f1(1) == Approx(0.5));
  CHECK(s.f1(2) == Approx(2.0 / 3));
  CHECK(s.mean_f1() == Approx((0.8 + 0.5 + 2.0 / 3) / 3));
  // (4 * 6 - (3 * 2 + 2 * 2 + 1 * 2)) / sqrt((36 - 12) (36 - 14))
  CHECK(s.matthews() == Approx(12 / std::sqrt(24.0 * 22.0)));
  CHECK(s.texts(1) == 2);
}

TEST_CASE("labels that are never told, or all the same", "[bert]") {
  std::vector<int> const wanted{0, 0, 1}, told{0, 0, 0};
  bert::label_scores const s(2, wanted, told);
  CHECK(s.precision(1) == 0);
  CHECK(s.f1(1) == 0);
  CHECK(s.matthews() == 0);
}

TEST_CASE("correlations", "[bert]") {
  std::vector<float> const a{1, 2, 3, 4, 5}, b{2, 1, 4, 3, 7}, flat(5, 2.f), ties{1, 2, 2, 3, 3};
  CHECK(bert::pearson(a, b) == Approx(12 / std::sqrt(10.0 * 21.2)));
  CHECK(bert::spearman(a, b) == Approx(0.8));
  CHECK(bert::pearson(a, flat) == 0);
  CHECK(bert::spearman(a, ties) == Approx(9 / std::sqrt(10.0 * 9.0)));
  std::vector<float> const falling{5, 4, 3, 2, 1};
  CHECK(bert::pearson(a, falling) == Approx(-1));
}
