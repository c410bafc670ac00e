#include <tx/backends/cpu/random.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace tx;
namespace cpu = tx::backends::cpu;

namespace {

// Known answers: the vectors Random123 1.09 ships in kat_vectors for philox4x32-10.
static_assert(philox({{0, 0}}, {{0, 0, 0, 0}}) == philox_block{{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}});
static_assert(philox({{~0u, ~0u}}, {{~0u, ~0u, ~0u, ~0u}}) ==
              philox_block{{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}});
static_assert(philox({{0xa4093822u, 0x299f31d0u}}, {{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}) ==
              philox_block{{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}});
static_assert(to_uniform(0) == 0.f && to_uniform(~0u) == 1.f - 0x1p-24f);

template <int W>
void same_as_scalar() {
  for (auto const seed : {0ull, 1ull, 0x9e3779b97f4a7c15ull, ~0ull})
    for (auto const stream : {philox_stream{0, 0}, philox_stream{7, 1u << 31}, philox_stream{~0u, ~0u}})
      for (auto const row :
           {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{0xffffffff}, std::uint64_t{0x1234567890}})
        for (auto const column : {0u, 4u, 20u, 1000u, 0xffffffc0u}) {
          auto const key = philox_key::from(seed);
          auto const words = cpu::random_words<W>(key, stream, row, column);
          auto const values = cpu::uniform<W>(key, stream, row, column);
          for (unsigned i = 0; i < W; ++i) {
            auto const lane = static_cast<int>(i);
            REQUIRE(static_cast<std::uint32_t>(words[lane]) == random_block(key, stream, row, column + i)[i % 4]);
            REQUIRE(values[lane] == uniform(key, stream, row, column + i));
          }
        }
}

}  // namespace

TEST_CASE("vector Philox equals scalar Philox", "[random]") {
  same_as_scalar<cpu::lanes>();
  same_as_scalar<4>();
}

TEST_CASE("neighbouring rows, streams and seeds draw different numbers", "[random]") {
  auto const key = philox_key::from(1);
  auto const first = random_block(key, {5, 6}, 7, 8);
  CHECK_FALSE(first == random_block(key, {5, 6}, 7, 12));
  CHECK_FALSE(first == random_block(key, {5, 6}, 8, 8));
  CHECK_FALSE(first == random_block(key, {5, 6}, 7 + (1ull << 32), 8));
  CHECK_FALSE(first == random_block(key, {4, 6}, 7, 8));
  CHECK_FALSE(first == random_block(key, {5, 7}, 7, 8));
  CHECK_FALSE(first == random_block(philox_key::from(1ull << 32), {5, 6}, 7, 8));
}

TEST_CASE("uniform values are uniform", "[random]") {
  constexpr int buckets = 64, rows = 512, columns = 1024;
  std::vector<int> count(buckets);
  double sum = 0, lag = 0;
  for (unsigned r = 0; r < rows; ++r) {
    float previous = 0.5f;
    for (unsigned c = 0; c < columns; c += cpu::lanes) {
      auto const v = cpu::uniform(philox_key::from(42), {3, 4}, r, c);
      for (int i = 0; i < cpu::lanes; ++i) {
        REQUIRE((v[i] >= 0 && v[i] < 1));
        ++count[static_cast<std::size_t>(v[i] * buckets)];
        sum += v[i];
        lag += (static_cast<double>(v[i]) - 0.5) * (static_cast<double>(previous) - 0.5);
        previous = v[i];
      }
    }
  }
  double const n = double{rows} * columns;
  CHECK(sum / n == Approx(0.5).margin(5 / std::sqrt(12 * n)));
  CHECK(lag / n == Approx(0).margin(5 / (12 * std::sqrt(n))));
  double chi = 0;
  for (int k : count) chi += (k - n / buckets) * (k - n / buckets) / (n / buckets);
  CHECK(chi < 63 + 5 * std::sqrt(2 * 63.0));
}
