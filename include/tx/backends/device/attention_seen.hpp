// Which keys queries see, of a tile of scores whose rows are queries and columns keys, or the other way round. All of a row are two words, so that nothing is asked of memory, or
// compared, score by score; where all are seen, nothing is.
#pragma once

#include <tx/backends/device/attention_tile.hpp>

namespace tx::backends::device {

// A bit for each of 64 columns, of which a lane looks at its own.
class seen_columns {
 public:
  TX_DEVICE seen_columns(std::uint64_t bits, int lane) : half_{static_cast<std::uint32_t>(bits) >> column_of(0, lane), static_cast<std::uint32_t>(bits >> 32) >> column_of(0, lane)} {}
  // Of element e of group c.
  TX_DEVICE bool has(int c, int e) const { return (half_[c / 4] >> (column_of(c % 4, 0) + e % 2) & 1u) != 0; }

  // The bits from `low` up to `high`.
  static TX_DEVICE std::uint64_t between(std::int64_t low, std::int64_t high) { return below(high) & ~below(low); }

 private:
  static TX_DEVICE std::uint64_t below(std::int64_t n) { return n <= 0 ? 0 : n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

  std::uint32_t half_[2];
};

// What the two queries of a lane, i and i + 8, see of 64 keys from j on.
struct seen_keys {
  std::uint64_t there;    // keys that there are
  std::uint64_t seen[2];  // and that each query sees

  template <class Block>
  TX_DEVICE seen_keys(Block& b, attention_problem const& p, std::int64_t t, int i, int j, int keys) : there(seen_columns::between(0, keys - j)), seen{there, there} {
    if (p.mask != nullptr) {
      std::uint8_t const* const mask = p.mask + t * p.keys + j;
      int const k = b.thread() % warp, left = keys - j;
      std::uint32_t const low = b.ballot(k < left && mask[k] != 0), high = b.ballot(k + warp < left && mask[k + warp] != 0);
      seen[0] = seen[1] = std::uint64_t{high} << 32 | low;
    }
    if (!p.f.bounds()) return;
    TX_UNROLL
    for (int r = 0; r < 2; ++r) {
      std::int64_t const own = std::int64_t{p.f.first} + i + 8 * r - j, window = p.f.window;
      seen[r] &= seen_columns::between(window == 0 ? 0 : own - window + 1, p.f.causal ? own + 1 : own + window);
    }
  }
  TX_DEVICE bool all() const { return (seen[0] & seen[1]) == ~std::uint64_t{0}; }
};

// Which of 64 queries from i on see the two keys of a lane, j and j + 8. of_mask: do the keys take part?
struct seeing_queries {
  std::uint64_t see[2];

  TX_DEVICE seeing_queries(attention_problem const& p, bool const (&of_mask)[2], int i, int j) {
    TX_UNROLL
    for (int r = 0; r < 2; ++r) {
      std::int64_t const own = std::int64_t{j} + 8 * r - p.f.first - i, window = p.f.window;
      see[r] = !of_mask[r] ? 0 : !p.f.bounds() ? ~std::uint64_t{0} : seen_columns::between(p.f.causal ? own : own - window + 1, window == 0 ? 64 : own + window);
    }
  }
  TX_DEVICE bool all() const { return (see[0] & see[1]) == ~std::uint64_t{0}; }
};

}  // namespace tx::backends::device
