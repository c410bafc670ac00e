// What attention's kernels multiply: tiles of 64 lines, Width elements each, in shared memory, and 16 lines of a warp in registers.
//
// A warp's products with 64 lines, [16, 64], lie in eight groups of columns, as add_product has them. Which line a column is for is free, if values take the same order: of
// each sixteen, those of a lane are four neighbours, two in each of two groups, so that a lane draws the random numbers of its own columns.
#pragma once

#include <tx/backends/device/attention_problem.hpp>

namespace tx::backends::device {

// The first of a lane's two columns of group c, of 64.
TX_DEVICE constexpr int column_of(int c, int lane) { return c / 2 * 16 + lane % 4 * 4 + c % 2 * 2; }

template <dtype D, int Width>
struct attention_tile {
  static constexpr int row_bytes = 2 * Width;
  static constexpr int bytes = attention_lines * row_bytes;
  static constexpr int across = Width / 8;  // columns of a line's sums, by eight

  // A warp's sums: 16 lines times eight columns each, in the parts that add_product has.
  using line_sums = float[attention_lines / 8][4];
  using wide_sums = float[across][4];

  // A line's chunks of 16 bytes change places by its number, so that those of one place lie in different banks, of eight neighbouring lines and of each
  // eight that column_of has of sixteen.
  static TX_DEVICE int chunk_in_tile(int line, int number) { return line * row_bytes + (number ^ bank(line)) * 16; }
  // Lines from `from` on, `apart` elements from one to the next, of which `lines` are there, `head` elements each; all else is zero.
  template <class Block>
  static TX_DEVICE void copy(Block& b, std::byte* to, std::byte const* from, std::int64_t apart, int lines, int head) {
    constexpr int in_row = Width / chunk;
    TX_UNROLL
    for (int i = 0; i < attention_lines * in_row / attention_threads; ++i) {
      int const c = b.thread() + i * attention_threads, row = c / in_row, number = c % in_row;
      int const left = head - number * chunk;
      b.copy(to + chunk_in_tile(row, number), from + 2 * (row * apart + number * chunk), row < lines ? (left >= chunk ? 16 : left > 0 ? 2 * left : 0) : 0);
    }
  }

  // sums [16, 64] += the warp's lines of `left` times those of `right`.
  template <class Block>
  static TX_DEVICE void add_lines(Block& b, line_sums& sums, std::byte const* left, std::byte const* right) {
    int const lane = b.thread() % warp;
    place const rows(b.thread() / warp * 16 + lane % 16, lane / 16), cols(line_of(lane % 8, lane / 16), lane / 8 % 2);
    TX_UNROLL
    for (int k = 0; k < Width / 16; ++k) {
      matrices const a = b.template load_matrices<false>(left + rows.at(0, k));
      TX_UNROLL
      for (int j = 0; j < attention_lines / 16; ++j) add_two(b, sums + 2 * j, a, b.template load_matrices<false>(right + cols.at(j, k)));
    }
  }
  // f(c, e) for what a lane has: elements 0 and 1 of group c are of its first row, 2 and 3 of its second, eight below.
  template <class F>
  static TX_DEVICE void each(F const& f) {
    TX_UNROLL
    for (int c = 0; c < attention_lines / 8; ++c)
      for (int e = 0; e < 4; ++e) f(c, e);
  }
  // sums [16, Width] += probabilities p [16, 64], rounded to halves, times the lines of `right`.
  template <class Block>
  static TX_DEVICE void add_products(Block& b, wide_sums& sums, line_sums const& p, std::byte const* right) {
    int const lane = b.thread() % warp;
    place const cols(line_of(lane % 8, lane / 8 % 2), lane / 16);
    TX_UNROLL
    for (int k = 0; k < attention_lines / 16; ++k) {
      matrices a;
      TX_UNROLL
      for (int m = 0; m < 4; ++m) a.part[m] = two_halves<D>(p[2 * k + m / 2][m % 2 * 2], p[2 * k + m / 2][m % 2 * 2 + 1]);
      TX_UNROLL
      for (int j = 0; j < Width / 16; ++j) add_two(b, sums + 2 * j, a, b.template load_matrices<true>(right + cols.at(k, j)));
    }
  }

  // Two neighbouring elements of a result, from number `at` on, as halves or as floats.
  static TX_DEVICE void store(std::byte* to, std::int64_t at, bool rounded, float low, float high) {
    if (!rounded) return store_own(to + 4 * at, columns<float, 2>{{low, high}});
    store_columns<D, 2>(to + 2 * at, {{low, high}}, true);
  }

 private:
  static TX_DEVICE int bank(int line) { return line % 8 ^ (line / 4 & 2); }
  // Of sixteen lines, the one that is number k < 8 of the first or the second matrix.
  static TX_DEVICE int line_of(int k, int second) { return k / 2 * 4 + second * 2 + k % 2; }
  // A chunk of a line of the first sixteen, and that of lines 16 * lines and columns 16 * depth further.
  class place {
   public:
    TX_DEVICE place(int line, int number) : line_(line * row_bytes), number_(number), bank_(bank(line)) {}
    TX_DEVICE int at(int lines, int depth) const { return line_ + lines * 16 * row_bytes + ((2 * depth + number_) ^ bank_) * 16; }

   private:
    int line_, number_, bank_;
  };
  template <class Block>
  static TX_DEVICE void add_two(Block& b, float (*sums)[4], matrices const& left, matrices const& right) {
    b.template add_product<D>(sums[0], left, right.part[0], right.part[1]);
    b.template add_product<D>(sums[1], left, right.part[2], right.part[3]);
  }
};

// Keys and values of a text, a tile after the other, in the room of two: the next one's copies are ended before this one is waited for.
template <dtype D, int Width>
class attention_keys {
  using tile = attention_tile<D, Width>;

 public:
  static constexpr int bytes = 4 * tile::bytes;

  TX_DEVICE attention_keys(attention_problem const& p, attention_problem::stretch keys, int h, std::byte* room)
      : p_(p), keys_(keys), apart_(std::int64_t{p.f.key_heads} * p.head), head_(h / (p.f.heads / p.f.key_heads) * p.head), room_(room) {}
  // Those from key j on. Values lie tile::bytes behind.
  TX_DEVICE std::byte* at(int j) const { return room_ + j / attention_lines % 2 * 2 * tile::bytes; }
  // If j is below `end`.
  template <class Block>
  TX_DEVICE void copy(Block& b, int j, int end) const {
    if (j < end) {
      std::int64_t const from = 2 * ((keys_.first + j) * apart_ + head_);
      tile::copy(b, at(j), p_.k + from, apart_, keys_.length - j, p_.head);
      tile::copy(b, at(j) + tile::bytes, p_.v + from, apart_, keys_.length - j, p_.head);
    }
    b.end_copies();
  }

 private:
  attention_problem const& p_;
  attention_problem::stretch keys_;
  std::int64_t apart_;
  int head_;
  std::byte* room_;
};

// Of the four lanes that have a row of sums.
template <class Block>
TX_DEVICE float greatest_of_row(Block& b, float x) {
  for (int mask = 1; mask <= 2; mask *= 2) {
    float const other = b.exchange(x, mask);
    x = other > x ? other : x;
  }
  return x;
}
template <class Block>
TX_DEVICE float sum_of_row(Block& b, float x) {
  for (int mask = 1; mask <= 2; mask *= 2) x += b.exchange(x, mask);
  return x;
}

}  // namespace tx::backends::device
