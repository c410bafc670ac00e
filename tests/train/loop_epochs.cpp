// The order of data: every item once in an epoch, a function of the seed, and the same again from a saved place on.
#include "round_trip.hpp"

#include <catch2/catch.hpp>

#include <tx/train/loop/shuffled_rows.hpp>

#include <set>

using namespace tx::train;

TEST_CASE("an epoch has every item once, in another order each time", "[loop]") {
  random_numbers random(3);
  epochs order(20);
  std::vector<std::vector<std::size_t>> all;
  for (int e = 0; e < 4; ++e) {
    std::vector<std::size_t> drawn;
    for (int k = 0; k < 20; ++k) drawn.push_back(order.next(random));
    CHECK(std::set<std::size_t>(drawn.begin(), drawn.end()).size() == 20);
    CHECK(order.left() == 0);
    for (auto const& before : all) CHECK(before != drawn);
    all.push_back(drawn);
  }
  order.next(random);
  CHECK(order.left() == 19);
  order.begin_anew();
  CHECK(order.left() == 0);
  epochs none(0);
  CHECK_THROWS_WITH(none.next(random), Catch::Contains("no items"));
}

TEST_CASE("SplitMix64 draws the numbers of its authors", "[loop]") {
  random_numbers random(1234567);  // the values that its reference implementation prints
  for (std::uint64_t const wanted : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u, 16408922859458223821u})
    CHECK(random() == wanted);
}

TEST_CASE("an epoch may be arranged, and goes on from any place in it", "[loop]") {
  auto const even_first = [](std::span<std::int64_t> order) { std::stable_partition(order.begin(), order.end(), [](std::int64_t i) { return i % 2 == 0; }); };
  random_numbers random(5);
  epochs order(10);
  for (int k = 0; k < 50; ++k) {
    if (k % 10 < 5) CHECK(order.left() % 10 == static_cast<std::size_t>(k % 10 == 0 ? 0 : 10 - k % 10));
    auto const place = place_of(order);
    epochs again(10);
    again.restore(place.in());
    random_numbers same = random;
    std::size_t const drawn = order.next(random, even_first);
    CHECK((drawn % 2 == 0) == (k % 10 < 5));
    CHECK(again.next(same, even_first) == drawn);
    CHECK(same.state() == random.state());
  }
  epochs other(11);
  CHECK_THROWS_WITH(other.restore(place_of(order).in()), Catch::Contains("that of other data. FIX: resume with the same data"));
  to_save twice;
  twice.put("at", 0);
  twice.put_copy("order", std::vector<std::int64_t>{0, 1, 1});
  epochs three(3);
  CHECK_THROWS_AS(three.restore(round_trip(twice).in()), tx::format_error);
  to_save beyond;
  beyond.put("at", 4);
  beyond.put_copy("order", std::vector<std::int64_t>{0, 1, 2});
  CHECK_THROWS_AS(three.restore(round_trip(beyond).in()), tx::format_error);
}

TEST_CASE("rows of several columns stay beside each other, in whole batches, and go on from any place", "[loop]") {
  std::vector<float> x;
  std::vector<tx::i32> y;
  for (int row = 0; row < 11; ++row) {
    for (int k = 0; k < 3; ++k) x.push_back(static_cast<float>(10 * row + k));
    y.push_back(row);
  }
  shuffled_rows data({.rows = 11, .batch = 4, .seed = 9}, x, y);
  CHECK(data.size() == 11);
  CHECK(data.batch() == 4);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::set<tx::i32> seen;
    for (int b = 0; b < 2; ++b) {  // three rows are left out
      auto const place = place_of(data);
      shuffled_rows again({.rows = 11, .batch = 4, .seed = 1}, x, y);
      again.restore(place.in());
      auto const& [bx, by] = data.next();
      REQUIRE(bx.size() == 12);
      REQUIRE(by.size() == 4);
      for (std::size_t i = 0; i < 12; ++i) CHECK(bx[i] == static_cast<float>(10 * by[i / 3]) + static_cast<float>(i % 3));
      seen.insert(by.begin(), by.end());
      CHECK(again.next() == std::tuple(bx, by));
    }
    CHECK(seen.size() == 8);
  }
  CHECK_THROWS_WITH((shuffled_rows({.rows = 3, .batch = 4}, y)), Catch::Contains("3 rows make no batch of 4"));
  CHECK_THROWS_WITH((shuffled_rows({.rows = 4, .batch = 4}, y)), Catch::Contains("11 elements, which is no multiple of its 4"));
}
