// Philox4x32-10: random numbers as a function of (key, counter), with no state. J. Salmon, M. Moraes, R. Dror and
// D. Shaw, Parallel random numbers: as easy as 1, 2, 3 (2011).
//
// The numbers of a tensor: element (row, column) drawn with (seed, stream) is word column % 4 of the block whose
//   key     = {seed low, seed high}
//   counter = {column / 4, row low, row high ^ stream.high, stream.low}
// and uniform() makes 24 of its bits a value in [0, 1). Nothing else enters, so any tile, thread, rank or device draws
// the same. Two draws differ if their streams differ in the low word, or in the high one with all rows below 2^32.
#pragma once

#include <tx/config.hpp>

namespace tx {

struct philox_block {
  std::uint32_t word[4];

  TX_HD constexpr std::uint32_t operator[](std::size_t i) const { return word[i]; }
  friend constexpr bool operator==(philox_block const&, philox_block const&) = default;
};

// A seed, as Philox takes it.
struct philox_key {
  std::uint32_t word[2];

  static TX_HD constexpr philox_key from(std::uint64_t seed) {
    return {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  }
};

// Which draw: two words the caller composes, such as {op id, step}.
struct philox_stream {
  std::uint32_t low, high;
};

TX_HD constexpr philox_block philox(philox_key key, philox_block counter) {
  auto [c0, c1, c2, c3] = counter.word;
  auto [k0, k1] = key.word;
  for (int round = 0; round < 10; ++round) {
    std::uint64_t const p0 = std::uint64_t{0xd2511f53u} * c0;
    std::uint64_t const p1 = std::uint64_t{0xcd9e8d57u} * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(p1);
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9e3779b9u;  // the golden ratio
    k1 += 0xbb67ae85u;  // sqrt(3) - 1
  }
  return {{c0, c1, c2, c3}};
}

// The block that holds element (row, column) and its three neighbours.
TX_HD constexpr philox_block random_block(philox_key key, philox_stream stream, std::uint64_t row,
                                          std::uint32_t column) {
  return philox(key, {{column / 4, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(row >> 32) ^ stream.high,
                       stream.low}});
}

// The upper 24 bits as a multiple of 2^-24 in [0, 1): exact in f32.
TX_HD constexpr float to_uniform(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

TX_HD constexpr float uniform(philox_key key, philox_stream stream, std::uint64_t row, std::uint32_t column) {
  return to_uniform(random_block(key, stream, row, column).word[column % 4]);
}

}  // namespace tx
