// The gradient of attention, with the slopes of attention_slopes.hpp. Blocks of 64 queries go through the keys for the gradient of q,
// then blocks of 64 keys through the queries for those of k and v: each is written once, by sums in a fixed order.
//   d_q = scale * slope k,  d_k = scale * slope^T q,  d_v = (probability * kept)^T d_out
#pragma once

#include <tx/backends/device/attention_slopes.hpp>

namespace tx::backends::device {

template <dtype D, int Width, bool Biased>
struct attention_query_task {
  using tile = attention_tile<D, Width>;
  using arguments = attention_gradient_arguments;
  static constexpr int threads = attention_threads, blocks_beside = Width <= 64 ? 3 : 2;
  static constexpr std::int64_t shared_bytes = 6 * tile::bytes;  // queries and their d_out; keys and values of two steps

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    attention_problem const& p = a.p;
    auto const [first, h, t] = attention_place(b, p.queries, p.f.heads);
    auto const queries = p.queries_of(t), keys = p.keys_of(t);
    if (first >= queries.length || keys.length == 0) return;

    std::int64_t const width = std::int64_t{p.f.heads} * p.head;
    std::byte* const room = b.shared();
    attention_keys<D, Width> const all_keys(p, keys, h, room + 2 * tile::bytes);
    std::int64_t const at = 2 * ((queries.first + first) * width + h * p.head);
    tile::copy(b, room, p.q + at, width, queries.length - first, p.head);
    tile::copy(b, room + tile::bytes, a.d_out + at, width, queries.length - first, p.head);
    all_keys.copy(b, 0);

    int const lane = b.thread() % warp, mine = first + b.thread() / warp * 16, g = lane / 4;
    kept_probabilities const kept(p);
    float const scale = p.scale();
    attention_slopes<D, Width, Biased> slopes{p, kept, t, h, mine, queries.length, keys.length};
    slopes.load_numbers(b, a);
    TX_UNROLL
    for (int r = 0; r < 2; ++r) {
      int const i = mine + g + 8 * r;
      bool const there = i < queries.length;
      slopes.product[r] = sum_of_row(b, there ? dot(a, 2 * ((queries.first + i) * width + h * p.head), lane % 4) : 0);
      if (there && lane % 4 == 0) a.product[p.row(t, h, i)] = slopes.product[r];
    }
    typename tile::wide_sums d_q = {};
    for (int j = 0; j < keys.length; j += attention_lines) {
      all_keys.copy(b, j + attention_lines);
      b.template wait_copies<1>();
      b.sync();
      std::byte const* const here = all_keys.at(j);
      typename tile::line_sums s = {};
      slopes.compute(b, s, room, here, j);
      tile::add_products(b, d_q, s, here);
      b.sync();
    }
    TX_UNROLL
    for (int r = 0; r < 2; ++r) {
      int const i = mine + g + 8 * r;
      if (i >= queries.length) continue;
      TX_UNROLL
      for (int c = 0; c < tile::across; ++c) {
        int const d = 8 * c + lane % 4 * 2;
        if (d < p.head) tile::store(a.d_q, (queries.first + i) * width + h * p.head + d, p.f.rounds, scale * d_q[c][2 * r], scale * d_q[c][2 * r + 1]);
      }
    }
  }

 private:
  // A quarter of a query's dot(d_out, out): every fourth chunk from chunk `quarter` on.
  static TX_DEVICE float dot(arguments const& a, std::int64_t at, int quarter) {
    float sum = 0;
    for (int d = quarter * chunk; d < a.p.head; d += 4 * chunk) {
      auto const x = fetch_columns<D, chunk>(a.d_out + at + 2 * d).widened(), y = fetch_columns<D, chunk>(a.out + at + 2 * d).widened();
      TX_UNROLL
      for (int e = 0; e < chunk; ++e) sum += x.x[e] * y.x[e];
    }
    return sum;
  }
};

template <dtype D, int Width, bool Biased>
struct attention_key_task {
  using tile = attention_tile<D, Width>;
  using arguments = attention_gradient_arguments;
  static constexpr int threads = attention_threads, blocks_beside = Width <= 64 ? 3 : 2;
  static constexpr int numbers_bytes = 3 * attention_lines * 4;  // of each query: greatest, log_sum, product
  static constexpr std::int64_t shared_bytes = 6 * tile::bytes + 2 * numbers_bytes;  // keys and values; queries, their d_out and numbers of two steps

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    attention_problem const& p = a.p;
    attention_place const place(b, p.keys, p.f.key_heads);
    int const first = place.first, of = place.h;
    std::int64_t const t = place.t;
    auto const queries = p.queries_of(t), keys = p.keys_of(t);
    if (first >= keys.length || queries.length == 0) return;

    int const group = p.f.heads / p.f.key_heads, steps = (queries.length + attention_lines - 1) / attention_lines;
    std::int64_t const width = std::int64_t{p.f.heads} * p.head, key_width = std::int64_t{p.f.key_heads} * p.head;
    std::byte* const room = b.shared();
    // Queries of each head of the group, a step after the other.
    int next = 0, next_head = of * group, next_query = 0;
    auto const copy_queries = [&] {
      if (next < group * steps) {
        std::byte* const to = room + 2 * tile::bytes + next % 2 * 2 * tile::bytes;
        int const h = next_head, i = next_query;
        std::int64_t const at = 2 * ((queries.first + i) * width + h * p.head);
        tile::copy(b, to, p.q + at, width, queries.length - i, p.head);
        tile::copy(b, to + tile::bytes, a.d_out + at, width, queries.length - i, p.head);
        auto* const numbers = reinterpret_cast<float*>(room + 6 * tile::bytes + next % 2 * numbers_bytes);
        int const k = b.thread() % attention_lines;
        bool const there = i + k < queries.length;
        std::int64_t const row = p.row(t, h, i + k);
        if (b.thread() < attention_lines) {
          numbers[k] = there ? a.greatest[row] : 0;
          numbers[attention_lines + k] = there ? a.log_sum[row] : 0;
        } else {
          numbers[2 * attention_lines + k] = there ? a.product[row] : 0;
        }
        ++next;
        next_query += attention_lines;
        if (next_query >= queries.length) {
          next_query = 0;
          ++next_head;
        }
      }
      b.end_copies();
    };
    std::int64_t const at = 2 * ((keys.first + first) * key_width + of * p.head);
    tile::copy(b, room, p.k + at, key_width, keys.length - first, p.head);
    tile::copy(b, room + tile::bytes, p.v + at, key_width, keys.length - first, p.head);
    copy_queries();

    int const lane = b.thread() % warp, mine = first + b.thread() / warp * 16, g = lane / 4;
    kept_probabilities const kept(p);
    float const scale = p.scale();
    typename tile::wide_sums d_k = {}, d_v = {};
    for (int n = 0, h = of * group, i = 0; n < group * steps; ++n) {
      copy_queries();
      b.template wait_copies<1>();
      b.sync();
      std::byte const* const here = room + 2 * tile::bytes + n % 2 * 2 * tile::bytes;
      auto const* const numbers = reinterpret_cast<float const*>(room + 6 * tile::bytes + n % 2 * numbers_bytes);
      typename tile::line_sums probability = {}, slope = {};
      tile::add_lines(b, probability, room, here);
      tile::add_lines(b, slope, room + tile::bytes, here + tile::bytes);
      TX_UNROLL
      for (int c = 0; c < attention_lines / 8; ++c) {
        columns<float, 4> k{{1, 1, 1, 1}};
        if (kept.any()) k = kept.of_keys(b, p.rows(p.row(t, h, i + 8 * c)), mine);
        for (int e = 0; e < 4; ++e) {
          int const column = 8 * c + lane % 4 * 2 + e % 2, query = i + column, key = mine + g + e / 2 * 8;
          bool const there = query < queries.length && key < keys.length, seen = there && (!p.hides() || p.sees(t, query, key));
          float score = seen ? scale * probability[c][e] : static_cast<float>(masked_score);
          if constexpr (Biased)
            if (seen) score = p.template biased<D>(score, t, h, query, key);
          float const x = there ? math::exp(score - numbers[column] - numbers[attention_lines + column]) : 0;
          slope[c][e] = seen ? x * (slope[c][e] * k.x[e] - numbers[2 * attention_lines + column]) : 0;
          probability[c][e] = x * k.x[e];
        }
      }
      tile::add_products(b, d_v, probability, here + tile::bytes);
      tile::add_products(b, d_k, slope, here);
      b.sync();
      i += attention_lines;
      if (i >= queries.length) {
        i = 0;
        ++h;
      }
    }
    TX_UNROLL
    for (int r = 0; r < 2; ++r) {
      int const j = mine + g + 8 * r;
      if (j >= keys.length) continue;
      TX_UNROLL
      for (int c = 0; c < tile::across; ++c) {
        int const d = 8 * c + lane % 4 * 2;
        if (d >= p.head) continue;
        std::int64_t const to = (keys.first + j) * key_width + of * p.head + d;
        tile::store(a.d_k, to, p.f.rounds, scale * d_k[c][2 * r], scale * d_k[c][2 * r + 1]);
        tile::store(a.d_v, to, p.f.rounds, d_v[c][2 * r], d_v[c][2 * r + 1]);
      }
    }
  }
};

}  // namespace tx::backends::device
