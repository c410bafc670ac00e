// Attention as kernels on a device are given it: operands as ops/attention.hpp has them, q, k and v halves. What a text is, which keys a query sees,
// and what dropout makes of probabilities.
#pragma once

#include <tx/backends/device/drawn_rows.hpp>
#include <tx/backends/device/half_tile.hpp>
#include <tx/backends/device/registers.hpp>
#include <tx/core/math.hpp>
#include <tx/core/philox.hpp>
#include <tx/ops/attention_facts.hpp>

namespace tx::backends::device {

inline constexpr int attention_lines = 64;    // queries or keys of a tile
inline constexpr int attention_threads = 128; // a warp has 16 lines
inline constexpr int most_head = 128;         // elements

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
  TX_DEVICE bool sees(std::int64_t t, int i, int j) const { return f.sees(i, j) && (mask == nullptr || mask[t * keys + j] != 0); }
  TX_DEVICE float scale() const { return static_cast<float>(f.scale); }
  // A score with its bias.
  template <dtype D>
  TX_DEVICE float biased(float score, std::int64_t t, int h, int i, int j) const {
    std::int64_t const at = t * bias_steps[0] + h * bias_steps[1] + i * bias_steps[2] + j * bias_steps[3];
    float const x = score + (bias_is_half ? load<D>(bias, at) : load<dtype::f32>(bias, at));
    return x < static_cast<float>(lowest_score) ? static_cast<float>(lowest_score) : x;
  }
  // Blocks store nothing for tokens of no text, and nothing where there are no queries or no keys: whoever starts them clears their results first.
  bool leaves_some() const { return f.packed() || queries == 0 || keys == 0; }
  TX_DEVICE bool hides() const { return f.causal || f.window != 0 || mask != nullptr; }

 private:
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
    int const tiles = (lines + attention_lines - 1) / attention_lines;
    first = b.block() % tiles * attention_lines;
    h = b.block() / tiles % heads;
    t = b.block() / tiles / heads;
  }
};

// What dropout multiplies probabilities with: none, or at random.
class kept_probabilities {
 public:
  TX_DEVICE explicit kept_probabilities(attention_problem const& p)
      : p_(p), rate_(p.rate == nullptr ? 0 : *p.rate), scale_(rate_ >= 1 ? 0 : 1 / (1 - rate_)), stream_(p.stream) {
    if (p.rate != nullptr) stream_.high += *p.step;
  }
  TX_DEVICE bool any() const { return p_.rate != nullptr; }

  // Lane (g, t) of a warp has of rows g and g + 8 the columns 2 t and 2 t + 1 behind `column`, a multiple of 8. A block of random numbers is four
  // columns: of two lanes each draws it for one row.
  template <class Block>
  TX_DEVICE columns<float, 4> of_queries(Block& b, std::uint64_t first_row, int column) const {
    int const lane = b.thread() % warp, t = lane % 4;
    bool const odd = t % 2 != 0;
    philox_block const drawn = random_block(p_.key, stream_, first_row + static_cast<std::uint64_t>(lane / 4 + (odd ? 8 : 0)), static_cast<std::uint32_t>(column + t / 2 * 4));
    std::uint32_t const other0 = b.exchange(odd ? drawn.word[0] : drawn.word[2], 1), other1 = b.exchange(odd ? drawn.word[1] : drawn.word[3], 1);
    return {{factor(odd ? other0 : drawn.word[0]), factor(odd ? other1 : drawn.word[1]), factor(odd ? drawn.word[2] : other0), factor(odd ? drawn.word[3] : other1)}};
  }
  // The same where rows are keys, from `key` on, and columns are queries: lane (g, t) has of keys g and g + 8 queries 2 t and 2 t + 1. Of four lanes,
  // which have neighbouring keys, each draws for one of its two queries and one of both keys; then they hand each other theirs.
  template <class Block>
  TX_DEVICE columns<float, 4> of_keys(Block& b, std::uint64_t first_row, int key) const {
    int const lane = b.thread() % warp, g = lane / 4, t = lane % 4, w = g % 4;
    philox_block drawn = random_block(p_.key, stream_, first_row + static_cast<std::uint64_t>(2 * t + w % 2), static_cast<std::uint32_t>(key + w / 2 * 8 + g / 4 * 4));
    auto const swap = [&](std::uint32_t& low, std::uint32_t& high, bool upper, int mask) {
      std::uint32_t const other = b.exchange(upper ? low : high, mask);
      (upper ? low : high) = other;
    };
    swap(drawn.word[0], drawn.word[1], w % 2 != 0, 4);
    swap(drawn.word[2], drawn.word[3], w % 2 != 0, 4);
    swap(drawn.word[0], drawn.word[2], w / 2 != 0, 8);
    swap(drawn.word[1], drawn.word[3], w / 2 != 0, 8);
    return {{factor(drawn.word[0]), factor(drawn.word[1]), factor(drawn.word[2]), factor(drawn.word[3])}};
  }

 private:
  TX_DEVICE float factor(std::uint32_t bits) const { return to_uniform(bits) < rate_ ? 0 : scale_; }

  attention_problem const& p_;
  float rate_, scale_;
  philox_stream stream_;
};

}  // namespace tx::backends::device
