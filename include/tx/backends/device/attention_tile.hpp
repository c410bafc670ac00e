// What attention's kernels multiply: tiles of 64 lines, Width elements each, in shared memory, and 16 lines of a warp in registers.
#pragma once

#include <tx/backends/device/attention_problem.hpp>

namespace tx::backends::device {

template <dtype D, int Width>
struct attention_tile {
  static constexpr int row_bytes = 2 * Width;
  static constexpr int bytes = attention_lines * row_bytes;
  static constexpr int across = Width / 8;  // columns of a line's sums, by eight

  // A warp's sums: 16 lines times eight columns each, in the parts that add_product has.
  using line_sums = float[attention_lines / 8][4];
  using wide_sums = float[across][4];

  // Lines from `from` on, `apart` elements from one to the next, of which `lines` are there, `head` elements each; all else is zero.
  template <class Block>
  static TX_DEVICE void copy(Block& b, std::byte* to, std::byte const* from, std::int64_t apart, int lines, int head) {
    constexpr int in_row = Width / chunk;
    TX_UNROLL
    for (int i = 0; i < attention_lines * in_row / attention_threads; ++i) {
      int const c = b.thread() + i * attention_threads, row = c / in_row, number = c % in_row;
      int const left = head - number * chunk;
      b.copy(to + chunk_at(row, row_bytes, number), from + 2 * (row * apart + number * chunk), row < lines ? (left >= chunk ? 16 : left > 0 ? 2 * left : 0) : 0);
    }
  }

  // sums [16, 64] += the warp's lines of `left` times those of `right`.
  template <class Block>
  static TX_DEVICE void add_lines(Block& b, line_sums& sums, std::byte const* left, std::byte const* right) {
    int const lane = b.thread() % warp;
    tile_rows<true, false, row_bytes> const rows(b.thread() / warp * 16, lane);
    tile_rows<true, true, row_bytes> const cols(0, lane);
    TX_UNROLL
    for (int k = 0; k < Width / 16; ++k) {
      matrices const a = rows.load(b, left, 0, k);
      TX_UNROLL
      for (int j = 0; j < attention_lines / 16; ++j) add_two(b, sums + 2 * j, a, cols.load(b, right, j, k));
    }
  }
  static TX_DEVICE void scale(line_sums& sums, float by) {
    TX_UNROLL
    for (int c = 0; c < attention_lines / 8; ++c)
      for (int e = 0; e < 4; ++e) sums[c][e] *= by;
  }
  // sums [16, Width] += probabilities p [16, 64], rounded to halves, times the lines of `right`.
  template <class Block>
  static TX_DEVICE void add_products(Block& b, wide_sums& sums, line_sums const& p, std::byte const* right) {
    tile_rows<false, true, row_bytes> const cols(0, b.thread() % warp);
    TX_UNROLL
    for (int k = 0; k < attention_lines / 16; ++k) {
      matrices const a{{two(p[2 * k][0], p[2 * k][1]), two(p[2 * k][2], p[2 * k][3]), two(p[2 * k + 1][0], p[2 * k + 1][1]),
                        two(p[2 * k + 1][2], p[2 * k + 1][3])}};
      TX_UNROLL
      for (int j = 0; j < Width / 16; ++j) add_two(b, sums + 2 * j, a, cols.load(b, right, j, k));
    }
  }

  // Two neighbouring elements of a result, from number `at` on, as halves or as floats.
  static TX_DEVICE void store(std::byte* to, std::int64_t at, bool rounded, float low, float high) {
    if (!rounded) return store_own(to + 4 * at, columns<float, 2>{{low, high}});
    std::uint32_t const bits = two(low, high);
    __builtin_memcpy(to + 2 * at, &bits, 4);
  }
  static TX_DEVICE std::uint32_t two(float low, float high) {
    element_t<D> const x[2] = {element_t<D>::from(low), element_t<D>::from(high)};
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, x, 4);
    return bits;
  }

 private:
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
  // Those from key j on, if there are any. Values lie tile::bytes behind.
  TX_DEVICE std::byte* at(int j) const { return room_ + j / attention_lines % 2 * 2 * tile::bytes; }
  template <class Block>
  TX_DEVICE void copy(Block& b, int j) const {
    if (j < keys_.length) {
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
