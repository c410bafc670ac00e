// The gradients of the scores of a warp's 16 queries and of 64 keys, with probabilities computed again from the two numbers of each query:
//   slope = probability * (kept * dot(d_out, v) - dot(d_out, out))
// Where probabilities are dropped, `kept` is 0 or the weight of what is kept (attention_kept.hpp). Slopes here are divided by that weight, and who stores a sum of them multiplies by it, once;
// of a rate of 1 it is 0, and so is all that is stored:
//   slope / weight = probability * ((is kept ? dot(d_out, v) : 0) - dot(d_out, out) / weight)
#pragma once

#include <tx/backends/device/attention_kept.hpp>
#include <tx/backends/device/attention_scores.hpp>
#include <tx/backends/device/attention_seen.hpp>
#include <tx/backends/device/attention_tile.hpp>

#include <limits>

namespace tx::backends::device {

struct attention_gradient_arguments {
  attention_problem p{};
  std::byte const *d_out = nullptr, *out = nullptr;
  float const *greatest = nullptr, *log_sum = nullptr;  // as attention_forward has them
  float* product = nullptr;        // scratch: of each query dot(d_out, out) / weight
  std::uint32_t* kept = nullptr;   // scratch: kept_words, where some are dropped
  std::byte *d_q = nullptr, *d_k = nullptr, *d_v = nullptr;  // of f32, or of halves
  std::int64_t d_q_apart = 0, d_k_apart = 0;                 // elements from one row to the next; of d_v as of d_k
  float* d_bias = nullptr;
};

template <dtype D, int Width, bool Biased>
struct attention_slopes {
  using tile = attention_tile<D, Width>;
  attention_problem const& p;
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
  // draw(): which probabilities are kept; asked where some are not.
  template <class Block, class Draw>
  TX_DEVICE void compute(Block& b, typename tile::line_sums& s, std::byte const* of_queries, std::byte const* of_keys, int j, Draw const& draw) const {
    int const lane = b.thread() % warp;
    typename tile::line_sums of_probability = {};
    tile::add_lines(b, s, of_queries, of_keys);
    tile::add_lines(b, of_probability, of_queries + tile::bytes, of_keys + tile::bytes);
    attention_scores{p, t, h, mine + lane / 4, j, queries, keys}.template of_queries<D, Biased>(s, lane);
    if (seen_keys const sees(b, p, t, mine + lane / 4, j, keys); !sees.all()) {
      seen_columns const seen[2] = {{sees.seen[0], lane}, {sees.seen[1], lane}};
      tile::each([&](int c, int e) {
        if (!seen[e / 2].has(c, e)) s[c][e] = -std::numeric_limits<float>::infinity();  // its slope is 0
      });
    }
    if (p.rate != nullptr) {
      kept_keys const kept = draw();
      tile::each([&](int c, int e) { of_probability[c][e] = kept.has(c, e) ? of_probability[c][e] : 0; });
    }
    tile::each([&](int c, int e) { s[c][e] = b.exp2(score_power<Biased> * (s[c][e] - greatest[e / 2] - log_sum[e / 2])) * (of_probability[c][e] - product[e / 2]); });
  }
};

}  // namespace tx::backends::device
