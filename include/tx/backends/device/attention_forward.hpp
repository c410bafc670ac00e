// Attention: a block has 64 queries of a head of a text and goes through its keys, 64 at a time, with the greatest score and the sum of each query so far
// (Milakov and Gimelshein, arXiv 1805.02867; Dao, arXiv 2307.08691). Scores stay in registers.
#pragma once

#include <tx/backends/device/attention_kept.hpp>
#include <tx/backends/device/attention_scores.hpp>
#include <tx/backends/device/attention_seen.hpp>
#include <tx/backends/device/attention_tile.hpp>
#include <tx/core/math.hpp>

#include <limits>

namespace tx::backends::device {

struct attention_forward_arguments {
  attention_problem p{};
  std::byte* out = nullptr;
  float *greatest = nullptr, *log_sum = nullptr;  // of each query; in powers of two where scores have no bias
};

template <dtype D, int Width, bool Biased>
struct attention_forward_task {
  using tile = attention_tile<D, Width>;
  using arguments = attention_forward_arguments;
  static constexpr int threads = attention_threads, blocks_beside = Width <= 64 ? 3 : 2;
  static constexpr std::int64_t shared_bytes = 5 * tile::bytes;  // queries; keys and values of two steps

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    attention_problem const& p = a.p;
    auto const [first, h, t] = attention_place(b, p.queries, p.f.heads);
    auto const queries = p.queries_of(t), keys = p.keys_of(t);
    if (first >= queries.length || keys.length == 0) return;

    std::int64_t const width = std::int64_t{p.f.heads} * p.head;
    std::byte* const room = b.shared();
    attention_keys<D, Width> const all_keys(p, keys, h, room + tile::bytes);
    auto const seen = p.keys_seen(first, queries.length, keys.length);
    tile::copy(b, room, p.q + 2 * ((queries.first + first) * width + h * p.head), width, queries.length - first, p.head);
    all_keys.copy(b, seen.first, seen.end);

    int const lane = b.thread() % warp, mine = first + b.thread() / warp * 16, g = lane / 4;  // rows mine + g and mine + g + 8
    kept_probabilities const kept(p);
    std::uint64_t const drawn_row = p.rows(p.row(t, h, mine)) + static_cast<std::uint64_t>(g);
    float most[2] = {-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}, sum[2] = {};
    typename tile::wide_sums out = {};
    for (int j = seen.first; j < seen.end; j += attention_lines) {
      all_keys.copy(b, j + attention_lines, seen.end);
      b.template wait_copies<1>();
      b.sync();
      std::byte const* const here = all_keys.at(j);
      typename tile::line_sums s = {};
      tile::add_lines(b, s, room, here);
      attention_scores{p, t, h, mine + g, j, queries.length, keys.length}.template of_queries<D, Biased>(s, lane);
      if (seen_keys const sees(b, p, t, mine + g, j, keys.length); !sees.all()) hide(s, sees, lane);
      TX_UNROLL
      for (int r = 0; r < 2; ++r) {
        float now = most[r];
        TX_UNROLL
        for (int c = 0; c < attention_lines / 8; ++c)
          for (int e = 0; e < 2; ++e) now = __builtin_fmaxf(now, s[c][2 * r + e]);
        now = greatest_of_row(b, now);
        float const before = b.exp2(score_power<Biased> * (most[r] - now));
        most[r] = now;
        float more = 0;
        TX_UNROLL
        for (int c = 0; c < attention_lines / 8; ++c)
          for (int e = 0; e < 2; ++e) more += s[c][2 * r + e] = b.exp2(score_power<Biased> * (s[c][2 * r + e] - now));
        sum[r] = sum[r] * before + more;
        TX_UNROLL
        for (int c = 0; c < tile::across; ++c)
          for (int e = 0; e < 2; ++e) out[c][2 * r + e] *= before;
      }
      if (kept.any()) {
        kept_keys const k = kept.draw(drawn_row, j, lane);
        tile::each([&](int c, int e) { s[c][e] = k.has(c, e) ? s[c][e] : 0; });
      }
      tile::add_products(b, out, s, here + tile::bytes);
      b.sync();
    }
    TX_UNROLL
    for (int r = 0; r < 2; ++r) {
      int const i = mine + g + 8 * r;
      float const all = sum_of_row(b, sum[r]);
      if (i >= queries.length) continue;
      if (lane % 4 == 0) {
        a.greatest[p.row(t, h, i)] = most[r];
        a.log_sum[p.row(t, h, i)] = math::log(all) * static_cast<float>(Biased ? 1 : log2_e);
      }
      float const by = kept.weight() / all;
      TX_UNROLL
      for (int c = 0; c < tile::across; ++c) {
        int const d = 8 * c + lane % 4 * 2;
        if (d >= p.head) continue;
        store_columns<D, 2>(a.out + 2 * ((queries.first + i) * width + h * p.head + d), {{by * out[c][2 * r], by * out[c][2 * r + 1]}}, true);
      }
    }
  }

 private:
  // Scores of keys that a query does not see, and of those that are not there.
  static TX_DEVICE void hide(typename tile::line_sums& s, seen_keys const& sees, int lane) {
    seen_columns const there(sees.there, lane), seen[2] = {{sees.seen[0], lane}, {sees.seen[1], lane}};
    tile::each([&](int c, int e) {
      if (!seen[e / 2].has(c, e)) s[c][e] = there.has(c, e) ? static_cast<float>(masked_score) : -std::numeric_limits<float>::infinity();
    });
  }
};

}  // namespace tx::backends::device
