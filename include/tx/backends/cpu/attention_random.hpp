// Philox4x32-10 for neighbouring rows in the lanes: the words of four columns of each, bit for bit those of random.hpp.
#pragma once

#include <tx/backends/cpu/random.hpp>

namespace tx::backends::cpu::detail {

struct words_of_rows {
  simd<i32> of[4];  // of columns column, column + 1, ... of `lanes` rows
};

// Rows row, row + 1, ...; column % 4 == 0. Even and odd rows apart, each in lanes of 64 bits whose upper halves mean nothing between rounds.
TX_INLINE words_of_rows random_words_of_rows(philox_key key, philox_stream stream, std::uint64_t row, std::uint32_t column) {
  using V = word_pairs<lanes>;
  constexpr std::uint64_t low = 0xffffffffu;
  auto const every_second = [row]<int... I>(std::uint64_t first, std::integer_sequence<int, I...>) { return V{(row + first + 2 * I)...}; };
  constexpr std::make_integer_sequence<int, lanes / 2> pairs{};
  V word[2][4];
#pragma GCC unroll 2
  for (int odd = 0; odd < 2; ++odd) {
    V const rows = every_second(static_cast<std::uint64_t>(odd), pairs);
    word[odd][0] = V{} + column / 4;
    word[odd][1] = rows;
    word[odd][2] = (rows >> 32) ^ stream.high;
    word[odd][3] = V{} + stream.low;
  }
  std::uint32_t k0 = key.word[0], k1 = key.word[1];
  for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 2
    for (auto& c : word) {
      V const p0 = multiply_low(c[0], V{} + 0xd2511f53u), p1 = multiply_low(c[2], V{} + 0xcd9e8d57u);
      c[0] = (p1 >> 32) ^ c[1] ^ std::uint64_t{k0};
      c[1] = p1;
      c[2] = (p0 >> 32) ^ c[3] ^ std::uint64_t{k1};
      c[3] = p0;
    }
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  words_of_rows r;
#pragma GCC unroll 4
  for (int w = 0; w < 4; ++w) r.of[w] = simd<i32>((vector_t<i32, lanes>)((word[0][w] & low) | (word[1][w] << 32)));
  return r;
}

}  // namespace tx::backends::cpu::detail
