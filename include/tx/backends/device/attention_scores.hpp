// Scores of a warp's tile, from the products of its queries and keys, whichever of the two its rows are.
#pragma once

#include <tx/backends/device/attention_tile.hpp>

namespace tx::backends::device {

// Rows begin with the lane's own, g = lane / 4, whose other one is g + 8; columns with the tile's.
struct attention_scores {
  attention_problem const& p;
  std::int64_t t;     // the text
  int h, i, j;        // the head; the first query and the first key
  int queries, keys;  // that the text has

  template <dtype D, bool Biased, class Sums>
  TX_DEVICE void of_queries(Sums& s, int lane) const {
    each<D, Biased>(s, [&](int c, int e) { return pair{i + e / 2 * 8, j + column_of(c, lane) + e % 2}; });
  }
  template <dtype D, bool Biased, class Sums>
  TX_DEVICE void of_keys(Sums& s, int lane) const {
    each<D, Biased>(s, [&](int c, int e) { return pair{i + column_of(c, lane) + e % 2, j + e / 2 * 8}; });
  }

 private:
  struct pair {
    int query, key;
  };
  template <dtype D, bool Biased, class Sums, class Pair>
  TX_DEVICE void each(Sums& s, Pair const& of) const {
    float const scale = static_cast<float>(p.f.scale * log2_e);
    TX_UNROLL
    for (int c = 0; c < attention_lines / 8; ++c)
      for (int e = 0; e < 4; ++e) {
        if constexpr (Biased) {
          auto const [query, key] = of(c, e);
          if (query < queries && key < keys) s[c][e] = p.template biased<D>(s[c][e], t, h, query, key);
        } else {
          s[c][e] *= scale;
        }
      }
  }
};

}  // namespace tx::backends::device
