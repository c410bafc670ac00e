// What dropout leaves of a tile of probabilities, [64, 64]. Numbers are drawn where rows are queries: once for attention, once for its gradient, whose other kernels read
// which were kept. What is kept is multiplied by its weight, 1 / (1 - rate), only where sums of it are stored.
//
// Of sixteen queries and 64 keys, a warp's part of a tile, 32 words tell which are kept:
//   word of query q and of keys k with k / 4 % 4 = u:  8 u + q % 8, which lane 4 (q % 8) + u has where rows are queries
//   bit of key k in it:                                8 (k / 16) + 4 (q / 8) + k % 4
#pragma once

#include <tx/backends/device/attention_tile.hpp>

namespace tx::backends::device {

// A lane's word where rows are queries, by what it has of the tile: element e of group c.
class kept_keys {
 public:
  kept_keys() = default;  // none
  TX_DEVICE explicit kept_keys(std::uint32_t word) : word_(word) {}
  TX_DEVICE void set(int c, int e, bool kept) { word_ |= static_cast<std::uint32_t>(kept) << bit(c, e); }
  TX_DEVICE bool has(int c, int e) const { return (word_ >> bit(c, e) & 1u) != 0; }
  TX_DEVICE std::uint32_t word() const { return word_; }

 private:
  static TX_DEVICE constexpr int bit(int c, int e) { return c / 2 * 8 + e / 2 * 4 + c % 2 * 2 + e % 2; }

  std::uint32_t word_ = 0;
};

class kept_probabilities {
 public:
  TX_DEVICE explicit kept_probabilities(attention_problem const& p) : key_(p.key), stream_(p.stream), any_(p.rate != nullptr) {
    if (!any_) return;
    rate_ = *p.rate;
    stream_.high += *p.step;
    // to_uniform(bits) < rate, of 24 bits in the upper part of a word.
    float const all = rate_ > 0 && rate_ < 1 ? rate_ * 0x1p24f : 0;
    auto const whole = static_cast<std::uint32_t>(all);
    dropped_below_ = (whole + (static_cast<float>(whole) < all ? 1u : 0u)) << 8;
  }
  TX_DEVICE bool any() const { return any_; }
  TX_DEVICE float share() const { return 1 - rate_; }  // that is kept
  TX_DEVICE float weight() const { return rate_ >= 1 ? 0 : 1 / (1 - rate_); }

  // first_row: the lane's first query, as rows are drawn; column: the first of all keys. A block of random numbers is what a lane has of sixteen keys, for one of
  // its two queries.
  TX_DEVICE kept_keys draw(std::uint64_t first_row, int column, int lane) const {
    kept_keys kept;
    TX_UNROLL
    for (int c = 0; c < attention_lines / 8; c += 2)
      for (int r = 0; r < 2; ++r) {
        philox_block const drawn = random_block(key_, stream_, first_row + static_cast<std::uint64_t>(8 * r), static_cast<std::uint32_t>(column + column_of(c, lane)));
        for (int k = 0; k < 4; ++k) kept.set(c + k / 2, 2 * r + k % 2, drawn.word[k] >= dropped_below_);
      }
    return kept;
  }

 private:
  philox_key key_;
  philox_stream stream_;
  bool any_;
  float rate_ = 0;
  std::uint32_t dropped_below_ = 0;
};

// Where they lie: of each text and head, of each 64 keys, of each sixteen queries.
struct kept_words {
  static constexpr int of_warp = attention_scratch::words_of_warp, of_tile = attention_scratch::words_of_tile, tile_bytes = 4 * of_tile;

  // Of the tile of queries from i on and keys from j on.
  static TX_DEVICE std::int64_t at(attention_problem const& p, std::int64_t t, int h, int i, int j) {
    return (((t * p.f.heads + h) * attention_tiles(p.keys) + j / attention_lines) * attention_tiles(p.queries) + i / attention_lines) * of_tile;
  }
  // A lane's, where rows are queries: neighbouring queries' lie side by side.
  static TX_DEVICE int own(int lane) { return lane % 4 * 8 + lane / 4; }
};

// Where rows are keys, lane 4 g + t of warp w has keys k = 16 w + g and k + 8 of the tile, and of each sixteen queries four from q = 4 t on: for either key four words
// side by side, from 8 (k / 4 % 4) + q % 8 on, of which it looks at one bit, the same of all.
class kept_queries {
 public:
  // words: of the tile, in shared memory. Those of queries 16 k on.
  TX_DEVICE kept_queries(std::uint32_t const* words, int k, int thread) : bit_(1u << (thread / warp * 8 + thread % 4 / 2 * 4 + thread % warp / 4 % 4)) {
    TX_UNROLL
    for (int r = 0; r < 2; ++r) of_[r] = load_own<std::uint32_t, 4>(reinterpret_cast<std::byte const*>(words + k * kept_words::of_warp + (thread % warp / 16 + 2 * r) * 8 + thread % 2 * 4));
  }
  TX_DEVICE bool has(int c, int e) const { return (of_[e / 2].x[c % 2 * 2 + e % 2] & bit_) != 0; }

 private:
  std::uint32_t bit_;
  columns<std::uint32_t, 4> of_[2];
};

}  // namespace tx::backends::device
