// Against ranks worked out by hand.
#include <tx/train/loop/ranking.hpp>

#include <catch2/catch.hpp>

TEST_CASE("each query's place among documents by cosine, whatever the lengths of vectors", "[loop]") {
  std::vector<float> const documents{5, 0, 0, 0.1f, -3, 0, 2, 2};  // east, north, west, north-east
  std::vector<float> const queries{9, 1, 1, 2, 0, -1};
  std::vector<std::size_t> const own{0, 1, 3};
  // (9, 1): east first. (1, 2): north-east, then its own north. (0, -1): east and west level at 0, then its own north-east, then north.
  auto const r = tx::train::ranked_by_cosine(queries, documents, 2, own);
  CHECK(r.recall == Approx(1.0 / 3));
  CHECK(r.reciprocal_rank == Approx((1 + 1.0 / 2 + 1.0 / 3) / 3));
  CHECK(r.auc == Approx((1 + 2.0 / 3 + 1.0 / 3) / 3));
}

TEST_CASE("vectors of any length have a direction, but for those of zeros", "[loop]") {
  std::vector<float> const documents{1e-7f, 0, 0.7f, 0.7f, 1e20f, 1e20f}, queries{1, 0, 3e-30f, 3e-30f};
  std::vector<std::size_t> const own{0, 2};
  auto const r = tx::train::ranked_by_cosine(queries, documents, 2, own);
  CHECK(r.recall == 0.5);                              // the second one finds two documents in its direction
  CHECK(r.reciprocal_rank == Approx((1 + 0.5) / 2));
}

TEST_CASE("further documents of a query are not others", "[loop]") {
  std::vector<float> const documents{1, 0, 2, 0, 0, 1}, query{1, 0.1f};
  std::vector<std::size_t> const own{1};
  std::vector<std::vector<std::size_t>> const besides{{0, 1}};
  CHECK(tx::train::ranked_by_cosine(query, documents, 2, own).recall == 0);  // level with the first one
  auto const r = tx::train::ranked_by_cosine(query, documents, 2, own, besides);
  CHECK(r.recall == 1);
  CHECK(r.auc == 1);
  std::vector<std::vector<std::size_t>> const beyond{{3}};
  CHECK_THROWS_AS(tx::train::ranked_by_cosine(query, documents, 2, own, beyond), tx::value_error);
}

TEST_CASE("a document that stands twice is not found by its vector", "[loop]") {
  std::vector<float> const documents{1, 0, 1, 0}, query{1, 0};
  std::vector<std::size_t> const own{1};
  auto const r = tx::train::ranked_by_cosine(query, documents, 2, own);
  CHECK(r.recall == 0);
  CHECK(r.auc == Approx(0.5));
  CHECK(r.reciprocal_rank == Approx(0.5));
  std::vector<std::size_t> const beyond{2};
  CHECK_THROWS_AS(tx::train::ranked_by_cosine(query, documents, 2, beyond), tx::value_error);
}

TEST_CASE("vectors that are no numbers are not ranked at all", "[loop]") {
  float const nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> const documents{1, 0, 0, 1}, query{1, 0};
  std::vector<std::size_t> const own{0};
  for (auto const& [queries, all] : {std::pair{std::vector<float>{nan, 0}, documents}, {query, {1, 0, 0, nan}}, {query, {1, 0, INFINITY, 1}}}) {
    auto const r = tx::train::ranked_by_cosine(queries, all, 2, own);
    CHECK(std::isnan(r.recall));
    CHECK(std::isnan(r.auc));
    CHECK(std::isnan(r.reciprocal_rank));
  }
  std::vector<float> const three{1, 0, 1};
  CHECK_THROWS_WITH(tx::train::ranked_by_cosine(query, three, 2, own), Catch::Contains("not whole vectors of width 2. FIX"));
  CHECK_THROWS_AS(tx::train::ranked_by_cosine(query, documents, 0, own), tx::value_error);
}
