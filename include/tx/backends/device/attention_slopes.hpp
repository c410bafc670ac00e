// The gradients of the scores of a warp's 16 queries and of 64 keys, with probabilities computed again from the two numbers of each query:
//   slope = probability * (kept * dot(d_out, v) - dot(d_out, out))
#pragma once

#include <tx/backends/device/attention_tile.hpp>

namespace tx::backends::device {

struct attention_gradient_arguments {
  attention_problem p{};
  std::byte const *d_out = nullptr, *out = nullptr;
  float const *greatest = nullptr, *log_sum = nullptr;
  float* product = nullptr;  // scratch: of each query dot(d_out, out)
  std::byte *d_q = nullptr, *d_k = nullptr, *d_v = nullptr;  // of f32, or of halves
  float* d_bias = nullptr;
};

template <dtype D, int Width, bool Biased>
struct attention_slopes {
  using tile = attention_tile<D, Width>;
  attention_problem const& p;
  kept_probabilities const& kept;
  std::int64_t t;                // the text
  int h, mine, queries, keys;    // the head, the warp's first query, and how many the text has
  float greatest[2] = {}, log_sum[2] = {}, product[2] = {};  // of the lane's two queries

  TX_DEVICE int query(int r, int lane) const { return mine + lane / 4 + 8 * r; }

  template <class Block>
  TX_DEVICE void load_numbers(Block& b, attention_gradient_arguments const& a) {
    TX_UNROLL
    for (int r = 0; r < 2; ++r) {
      int const i = query(r, b.thread() % warp);
      bool const there = i < queries;
      std::int64_t const row = p.row(t, h, i);
      greatest[r] = there ? a.greatest[row] : 0;
      log_sum[r] = there ? a.log_sum[row] : 0;
    }
  }
  // Once it is in memory.
  TX_DEVICE void load_products(attention_gradient_arguments const& a, int lane) {
    TX_UNROLL
    for (int r = 0; r < 2; ++r) product[r] = query(r, lane) < queries ? a.product[p.row(t, h, query(r, lane))] : 0;
  }
  // s [16, 64]; of_queries: a tile of queries, and behind it that of their d_out; of_keys: keys from j on, and their values.
  template <class Block>
  TX_DEVICE void compute(Block& b, typename tile::line_sums& s, std::byte const* of_queries, std::byte const* of_keys, int j) const {
    int const lane = b.thread() % warp;
    float const scale = p.scale();
    typename tile::line_sums of_probability = {};
    tile::add_lines(b, s, of_queries, of_keys);
    tile::add_lines(b, of_probability, of_queries + tile::bytes, of_keys + tile::bytes);
    TX_UNROLL
    for (int c = 0; c < attention_lines / 8; ++c) {
      if (kept.any()) {
        auto const k = kept.of_queries(b, p.rows(p.row(t, h, mine)), j + 8 * c);
        for (int e = 0; e < 4; ++e) of_probability[c][e] *= k.x[e];
      }
      for (int e = 0; e < 4; ++e) {
        int const r = e / 2, i = query(r, lane), key = j + 8 * c + lane % 4 * 2 + e % 2;
        bool seen = key < keys && (!p.hides() || p.sees(t, i, key));
        float score = scale * s[c][e];
        if constexpr (Biased) {
          seen = seen && i < queries;
          if (seen) score = p.template biased<D>(score, t, h, i, key);
        }
        s[c][e] = seen ? math::exp(score - greatest[r] - log_sum[r]) * (of_probability[c][e] - product[r]) : 0;
      }
    }
  }
};

}  // namespace tx::backends::device
