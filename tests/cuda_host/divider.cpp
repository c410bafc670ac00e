#include <tx/backends/device/divider.hpp>
#include <tx/backends/device/drawn_rows.hpp>

#include <catch2/catch.hpp>

#include <random>
#include <vector>

TEST_CASE("A product and a shift divide every number below 2^31") {
  std::mt19937 random(1);
  auto const draw = [&] { return static_cast<std::uint32_t>(random()); };
  std::vector<std::uint32_t> divisors, numbers;
  constexpr std::uint32_t end = 1u << 31;
  for (std::uint32_t d = 1; d < 300; ++d) divisors.push_back(d);
  for (unsigned bit = 8; bit < 31; ++bit)
    for (std::uint32_t const near : {(1u << bit) - 1, 1u << bit, (1u << bit) + 1}) divisors.push_back(near);
  divisors.push_back(end - 1);
  for (int i = 0; i < 200; ++i) divisors.push_back(1 + draw() % (end - 1));
  int wrong = 0;
  for (std::uint32_t const d : divisors) {
    tx::backends::device::divider const by(d);
    numbers = {0, 1, d - 1, d, d + 1 < end ? d + 1 : d, end - 1, end - 2, (end - 1) / d * d, (end - 1) / d * d - 1};
    for (int i = 0; i < 50; ++i) numbers.push_back(draw() % end);
    for (std::uint32_t const n : numbers)
      wrong += n < end && by.quotient(n) != n / d;
  }
  CHECK(wrong == 0);
}

TEST_CASE("Rows that random numbers are counted in are those of the host") {
  std::mt19937 generator(2);
  auto const random = [&] { return static_cast<std::uint32_t>(generator()); };
  int wrong = 0;
  for (int k = 0; k < 20'000; ++k) {
    std::uint32_t const own = k % 3 == 0 ? 0 : 1 + random() % (k % 2 == 0 ? 100u : 1u << 30), all = own + random() % 1000;
    tx::random_rows const host{random(), own, all};
    tx::backends::device::drawn_rows const device(host);
    for (std::int64_t const row : {std::int64_t{0}, std::int64_t{own}, std::int64_t{own} + 1, static_cast<std::int64_t>(random() % (1u << 31)), (std::int64_t{1} << 31) - 1}) wrong += device(row) != host(row);
  }
  CHECK(wrong == 0);
}
