#include <tx/backends/cuda/divider.hpp>

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
    tx::backends::cuda::divider const by(d);
    numbers = {0, 1, d - 1, d, d + 1 < end ? d + 1 : d, end - 1, end - 2, (end - 1) / d * d, (end - 1) / d * d - 1};
    for (int i = 0; i < 50; ++i) numbers.push_back(draw() % end);
    for (std::uint32_t const n : numbers)
      wrong += n < end && by.quotient(n) != n / d;
  }
  CHECK(wrong == 0);
}
