// Attention: a block has 64 queries of a head of a text and goes through its keys, 64 at a time, with the greatest score and the sum of each query so far
// (Milakov and Gimelshein, arXiv 1805.02867; Dao, arXiv 2307.08691). Scores stay in registers.
#pragma once

#include <tx/backends/device/attention_tile.hpp>

#include <limits>

namespace tx::backends::device {

struct attention_forward_arguments {
  attention_problem p{};
  std::byte* out = nullptr;
  float *greatest = nullptr, *log_sum = nullptr;
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
    tile::copy(b, room, p.q + 2 * ((queries.first + first) * width + h * p.head), width, queries.length - first, p.head);
    all_keys.copy(b, 0);

    int const lane = b.thread() % warp, mine = first + b.thread() / warp * 16, g = lane / 4;  // rows mine + g and mine + g + 8
    kept_probabilities const kept(p);
    float const scale = p.scale();
    float most[2] = {-std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}, sum[2] = {};
    typename tile::wide_sums out = {};
    for (int j = 0; j < keys.length; j += attention_lines) {
      all_keys.copy(b, j + attention_lines);
      b.template wait_copies<1>();
      b.sync();
      std::byte const* const here = all_keys.at(j);
      typename tile::line_sums s = {};
      tile::add_lines(b, s, room, here);
      tile::scale(s, scale);
      if constexpr (Biased) add_bias(p, s, t, h, mine + g, j + lane % 4 * 2, queries.length, keys.length);
      hide(p, s, t, mine + g, j + lane % 4 * 2, keys.length);
      TX_UNROLL
      for (int r = 0; r < 2; ++r) {
        float now = most[r];
        TX_UNROLL
        for (int c = 0; c < attention_lines / 8; ++c)
          for (int e = 0; e < 2; ++e) now = s[c][2 * r + e] > now ? s[c][2 * r + e] : now;
        now = greatest_of_row(b, now);
        float const before = math::exp(most[r] - now);
        most[r] = now;
        float more = 0;
        TX_UNROLL
        for (int c = 0; c < attention_lines / 8; ++c)
          for (int e = 0; e < 2; ++e) more += s[c][2 * r + e] = math::exp(s[c][2 * r + e] - now);
        sum[r] = sum[r] * before + more;
        TX_UNROLL
        for (int c = 0; c < tile::across; ++c)
          for (int e = 0; e < 2; ++e) out[c][2 * r + e] *= before;
      }
      if (kept.any()) {
        TX_UNROLL
        for (int c = 0; c < attention_lines / 8; ++c) {
          auto const k = kept.of_queries(b, p.rows(p.row(t, h, mine)), j + 8 * c);
          for (int e = 0; e < 4; ++e) s[c][e] *= k.x[e];
        }
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
        a.log_sum[p.row(t, h, i)] = math::log(all);
      }
      TX_UNROLL
      for (int c = 0; c < tile::across; ++c) {
        int const d = 8 * c + lane % 4 * 2;
        if (d >= p.head) continue;
        std::uint32_t const two = tile::two(out[c][2 * r] / all, out[c][2 * r + 1] / all);
        __builtin_memcpy(a.out + 2 * ((queries.first + i) * width + h * p.head + d), &two, 4);
      }
    }
  }

 private:
  static TX_DEVICE void add_bias(attention_problem const& p, typename tile::line_sums& s, std::int64_t t, int h, int i, int j, int queries, int keys) {
    TX_UNROLL
    for (int c = 0; c < attention_lines / 8; ++c)
      for (int e = 0; e < 4; ++e) {
        int const query = i + e / 2 * 8, key = j + 8 * c + e % 2;
        if (query < queries && key < keys) s[c][e] = p.template biased<D>(s[c][e], t, h, query, key);
      }
  }
  // Scores of queries i and i + 8 and of keys from j on: of keys that are not there or that a query does not see.
  static TX_DEVICE void hide(attention_problem const& p, typename tile::line_sums& s, std::int64_t t, int i, int j, int keys) {
    bool const hides = p.hides();
    if (!hides && j / attention_lines * attention_lines + attention_lines <= keys) return;
    TX_UNROLL
    for (int c = 0; c < attention_lines / 8; ++c)
      for (int e = 0; e < 4; ++e) {
        int const key = j + 8 * c + e % 2;
        if (key >= keys) s[c][e] = -std::numeric_limits<float>::infinity();
        else if (hides && !p.sees(t, i + e / 2 * 8, key)) s[c][e] = static_cast<float>(masked_score);
      }
  }
};

}  // namespace tx::backends::device
