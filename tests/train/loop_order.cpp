// Orders without a list: each is a permutation, none is preferred, and ranks share one row.
#include "round_trip.hpp"

#include <tx/train/loop/shuffled_order.hpp>

#include <catch2/catch.hpp>

#include <set>

using namespace tx::train;
using Catch::Contains;

TEST_CASE("a permutation of any number of items has each of them once", "[order]") {
  for (std::uint64_t items = 1; items <= 300; ++items)
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      permutation const p(items, seed);
      std::vector<char> seen(items, 0);
      for (std::uint64_t k = 0; k < items; ++k) {
        std::uint64_t const to = p(k);
        REQUIRE(to < items);
        REQUIRE(std::exchange(seen[to], 1) == 0);
      }
    }
  permutation const many(std::uint64_t{1} << 62, 5);
  std::set<std::uint64_t> seen;
  for (std::uint64_t k = 0; k < 1000; ++k) seen.insert(many(k << 51));
  CHECK(seen.size() == 1000);
  CHECK(*seen.rbegin() < std::uint64_t{1} << 62);
}

TEST_CASE("each item comes to each place as often, and beside each other one", "[order]") {
  constexpr std::uint64_t items = 10, seeds = 20'000;
  std::vector<double> at(items * items), behind(items * items);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    permutation const p(items, seed);
    for (std::uint64_t k = 0; k < items; ++k) ++at[k * items + p(k)];
    for (std::uint64_t k = 1; k < items; ++k) ++behind[p(k - 1) * items + p(k)];
  }
  double of_places = 0, of_neighbours = 0;  // chi-squared, of 81 and 89 degrees of freedom: 150 is beyond one in 10,000
  for (std::uint64_t a = 0; a < items; ++a)
    for (std::uint64_t b = 0; b < items; ++b) {
      double const wanted = seeds / 10.0;
      of_places += (at[a * items + b] - wanted) * (at[a * items + b] - wanted) / wanted;
      if (a != b) of_neighbours += (behind[a * items + b] - wanted) * (behind[a * items + b] - wanted) / wanted;
    }
  CHECK(of_places < 150);
  CHECK(of_neighbours < 150);
}

TEST_CASE("an epoch has each item once, in another order than the one before", "[order]") {
  shuffled_order order(50, 7), other(50, 8);
  std::vector<std::vector<std::uint64_t>> epochs;
  for (int e = 0; e < 4; ++e) {
    std::vector<std::uint64_t> drawn, of_other;
    for (int k = 0; k < 50; ++k) {
      drawn.push_back(order.next());
      of_other.push_back(other.next());
    }
    CHECK(std::set<std::uint64_t>(drawn.begin(), drawn.end()).size() == 50);
    CHECK(drawn != of_other);
    for (auto const& before : epochs) CHECK(before != drawn);
    epochs.push_back(drawn);
  }
  CHECK(order.place() == 200);
  CHECK_THROWS_WITH(shuffled_order(0, 1), Contains("no items. FIX"));
  CHECK_THROWS_WITH(shuffled_order(5, 1, {.rank = 2, .ranks = 2}), Contains("rank 2 of 2. FIX: ranks are numbered from 0"));
  CHECK_THROWS_AS(shuffled_order(5, 1, {.rank = 0, .ranks = 0}), tx::value_error);
}

TEST_CASE("ranks share one row, for any number of them, and go on from any place with any other number", "[order]") {
  std::vector<std::uint64_t> row;
  shuffled_order whole(13, 3);
  for (int k = 0; k < 120; ++k) row.push_back(whole.next());
  for (std::uint64_t ranks = 1; ranks <= 5; ++ranks) {
    std::vector<shuffled_order> all;
    for (std::uint64_t r = 0; r < ranks; ++r) all.emplace_back(std::uint64_t{13}, std::uint64_t{3}, rank_share{r, ranks});
    std::size_t at = 0;
    for (int step = 0; step < 12; ++step)
      for (auto& rank : all) REQUIRE(rank.next() == row[at++]);
    auto const place = place_of(all.back());
    for (std::uint64_t others = 1; others <= 4; ++others)
      for (std::uint64_t r = 0; r < others; ++r) {
        shuffled_order again(13, 3, {r, others});
        again.restore(place.in());
        for (std::size_t k = 0; k < 10; ++k) REQUIRE(again.next() == row[at + k * others + r]);
      }
  }
  shuffled_order other(14, 3);
  CHECK_THROWS_WITH(other.restore(place_of(whole).in()), Contains("that of other data. FIX: resume with the same data"));
  shuffled_order reseeded(13, 4);
  CHECK_THROWS_WITH(reseeded.restore(place_of(whole).in()), Contains("that of seed 3, not of 4. FIX: resume with the same seed"));
}
