// Attention as kernels on a device are given it: operands as ops/attention.hpp has them, q, k and v halves. What a text is, and which tiles of its scores
// anything comes of.
//
// Scores without a bias are kept in powers of two, log2(e) * scale * dot(q, k), so that 2^x is all that is left to compute of each; and so are the greatest score and the logarithm of
// the sum that these kernels hand each other. Those with a bias are kept as they are: a bias may be as great as a number can be.
#pragma once

#include <tx/backends/device/attention_scratch.hpp>
#include <tx/backends/device/drawn_rows.hpp>
#include <tx/backends/device/half_tile.hpp>
#include <tx/backends/device/registers.hpp>
#include <tx/core/philox.hpp>
#include <tx/ops/attention_facts.hpp>

namespace tx::backends::device {

inline constexpr int attention_threads = 128; // a warp has 16 lines
inline constexpr int most_head = 128;         // elements

// What a score is multiplied with before 2^x is taken: those without a bias are that already.
inline constexpr double log2_e = 1.4426950408889634;
template <bool Biased>
inline constexpr float score_power = Biased ? static_cast<float>(log2_e) : 1.0f;

struct attention_problem {
  std::byte const *q = nullptr, *k = nullptr, *v = nullptr;
  attention_facts f{};
  std::int64_t texts = 0;
  int queries = 0, keys = 0;  // of a text; of packed ones at most
  int head = 0;               // elements
  std::int64_t query_rows = 0, key_rows = 0;            // of packed texts all together
  std::int32_t const *query_offsets = nullptr, *key_offsets = nullptr;
  std::uint8_t const* mask = nullptr;                   // [texts, keys]: 0 where a key takes no part
  std::byte const* bias = nullptr;                      // [texts, heads, queries, keys], or ones: added to scores
  bool bias_is_half = false;                            // of the type of q; else f32
  std::int64_t bias_steps[4] = {};                      // elements from one to the next along each axis; 0 where it has one
  float const* rate = nullptr;                          // of dropout
  philox_key key{};
  philox_stream stream{};
  std::uint32_t const* step = nullptr;                  // added to the stream
  drawn_rows rows{};

  // Rows of q or of k that are a text's.
  struct stretch {
    std::int64_t first;
    int length;
  };
  TX_DEVICE stretch queries_of(std::int64_t t) const { return query_offsets == nullptr ? stretch{t * queries, queries} : packed(query_offsets, t, query_rows, queries); }
  TX_DEVICE stretch keys_of(std::int64_t t) const { return key_offsets == nullptr ? stretch{t * keys, keys} : packed(key_offsets, t, key_rows, keys); }
  // Number of a query's row of scores, in the numbers that are kept of each.
  TX_DEVICE std::int64_t row(std::int64_t t, int h, int i) const { return (t * f.heads + h) * queries + i; }
  TX_DEVICE float scale() const { return static_cast<float>(f.scale); }
  // The score of a product of a query and a key, which have a bias.
  template <dtype D>
  TX_DEVICE float biased(float product, std::int64_t t, int h, int i, int j) const {
    std::int64_t const at = t * bias_steps[0] + h * bias_steps[1] + i * bias_steps[2] + j * bias_steps[3];
    float const x = scale() * product + (bias_is_half ? load<D>(bias, at) : load<dtype::f32>(bias, at));
    return x < static_cast<float>(lowest_score) ? static_cast<float>(lowest_score) : x;
  }
  // Blocks store nothing for tokens of no text, and nothing where there are no queries or no keys: whoever starts them clears their results first.
  bool leaves_some() const { return f.packed() || queries == 0 || keys == 0; }

  // A tile of 64 queries and 64 keys is left out where no query sees one of its keys, and every query sees some other key, beside whose score nothing is left
  // of a hidden one (masked_score). keys_seen(i) has the keys that are not left out for the tile of queries that begins at i; queries_seen(j) has the queries for the
  // tile of keys that begins at j.
  struct lines {
    int first, end;  // the first begins a tile
  };
  TX_DEVICE lines keys_seen(int i, int query_count, int key_count) const {
    if (!skips(query_count, key_count)) return {0, key_count};
    std::int64_t const own = std::int64_t{f.first} + i, last = own + attention_lines - 1;
    return between(f.window == 0 ? 0 : own - f.window + 1, f.causal ? last + 1 : last + f.window, key_count);
  }
  TX_DEVICE lines queries_seen(int j, int query_count, int key_count) const {
    if (!skips(query_count, key_count)) return {0, query_count};
    std::int64_t const own = std::int64_t{j} - f.first, last = own + attention_lines - 1;
    return between(f.causal ? own : own - f.window + 1, f.window == 0 ? query_count : last + f.window, query_count);
  }

 private:
  // Every query sees a key: the last one does, whose first key, at first + query_count - window, is the furthest.
  TX_DEVICE bool skips(int query_count, int key_count) const {
    return f.bounds() && mask == nullptr && f.first >= 0 && (f.window == 0 || std::int64_t{f.first} + query_count - f.window < key_count);
  }
  // Whole tiles at the front, so that either side finds the same ones.
  static TX_DEVICE lines between(std::int64_t low, std::int64_t high, int count) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    return {static_cast<int>((low < 0 ? 0 : low < most ? low : most) / attention_lines * attention_lines), static_cast<int>(high < count ? high : count)};
  }
  // Whatever offsets are, no row is read that is not there.
  static TX_DEVICE stretch packed(std::int32_t const* offsets, std::int64_t t, std::int64_t rows, int longest) {
    auto const within = [rows](std::int64_t n) { return n < 0 ? 0 : n > rows ? rows : n; };
    std::int64_t const first = within(offsets[t]), end = within(offsets[t + 1]);
    return {first, static_cast<int>(end < first ? 0 : end - first < longest ? end - first : longest)};
  }
};

// What a block has: a tile of lines of a head of a text, queries or keys.
struct attention_place {
  int first, h;
  std::int64_t t;

  template <class Block>
  TX_DEVICE attention_place(Block& b, int lines, int heads) {
    int const tiles = attention_tiles(lines);
    first = b.block() % tiles * attention_lines;
    h = b.block() / tiles % heads;
    t = b.block() / tiles / heads;
  }
};

}  // namespace tx::backends::device
