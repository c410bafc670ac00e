// Against counts of pairs worked out by hand.
#include <tx/train/loop/area_under_curve.hpp>

#include <catch2/catch.hpp>

TEST_CASE("the area under the curve is the share of pairs that are told apart, ties counting half", "[loop]") {
  std::vector<float> const scores{0.9f, 0.4f, 0.4f, 0.1f}, labels{1, 0.75f, 0, 0.25f};
  // positive: 0.9 and 0.4; negative: 0.4 and 0.1. Of four pairs three are right and one is a tie.
  CHECK(tx::train::area_under_curve(scores, labels) == Approx(3.5 / 4));
  std::vector<float> const flipped{0, 0.25f, 1, 0.75f};
  CHECK(tx::train::area_under_curve(scores, flipped) == Approx(0.5 / 4));
  std::vector<float> const flat(4, 2.0f);
  CHECK(tx::train::area_under_curve(flat, labels) == Approx(0.5));
}

TEST_CASE("one kind of examples has no area", "[loop]") {
  std::vector<float> const scores{0.1f, 0.2f}, all{1, 1}, none{0, 0};
  CHECK_THROWS_WITH(tx::train::area_under_curve(scores, all), Catch::Contains("AUC needs positive examples") && Catch::Contains("FIX: data with both"));
  CHECK_THROWS_AS(tx::train::area_under_curve(scores, none), tx::value_error);
}

TEST_CASE("scores that are no numbers have no area, and each has a label", "[loop]") {
  std::vector<float> const scores{0.9f, std::nanf(""), 0.4f}, labels{1, 0, 0}, few{1, 0};
  CHECK(std::isnan(tx::train::area_under_curve(scores, labels)));
  CHECK_THROWS_WITH(tx::train::area_under_curve(scores, few), Catch::Contains("3 scores with 2 labels. FIX"));
}
