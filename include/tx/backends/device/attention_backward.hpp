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
    attention_place const place(b, p.queries, p.f.heads);
    int const first = place.first, h = place.h;
    std::int64_t const t = place.t;
    auto const queries = p.queries_of(t), keys = p.keys_of(t);
    if (first >= queries.length || keys.length == 0) return;

    std::int64_t const width = std::int64_t{p.f.heads} * p.head;
    std::byte* const room = b.shared();
    attention_keys<D, Width> const all_keys(p, keys, h, room + 2 * tile::bytes);
    auto const seen = p.keys_seen(first, queries.length, keys.length);
    std::int64_t const at = 2 * ((queries.first + first) * width + h * p.head);
    tile::copy(b, room, p.q + at, width, queries.length - first, p.head);
    tile::copy(b, room + tile::bytes, a.d_out + at, width, queries.length - first, p.head);
    all_keys.copy(b, seen.first, seen.end);

    int const lane = b.thread() % warp, mine = first + b.thread() / warp * 16, g = lane / 4;
    kept_probabilities const kept(p);
    std::uint64_t const drawn_row = p.rows(p.row(t, h, mine)) + static_cast<std::uint64_t>(g);
    attention_slopes<D, Width, Biased> slopes{p, t, h, mine, queries.length, keys.length};
    slopes.load_numbers(b, a);
    TX_UNROLL
    for (int r = 0; r < 2; ++r) {
      int const i = mine + g + 8 * r;
      bool const there = i < queries.length;
      slopes.product[r] = kept.share() * sum_of_row(b, there ? dot(a, 2 * ((queries.first + i) * width + h * p.head), lane % 4) : 0);
      if (there && lane % 4 == 0) a.product[p.row(t, h, i)] = slopes.product[r];
    }
    typename tile::wide_sums d_q = {};
    for (int j = seen.first; j < seen.end; j += attention_lines) {
      all_keys.copy(b, j + attention_lines, seen.end);
      b.template wait_copies<1>();
      b.sync();
      std::byte const* const here = all_keys.at(j);
      typename tile::line_sums s = {};
      slopes.compute(b, s, room, here, j, [&] {
        kept_keys const drawn = kept.draw(drawn_row, j, lane);
        a.kept[kept_words::at(p, t, h, mine, j) + b.thread() / warp * kept_words::of_warp + kept_words::own(lane)] = drawn.word();
        return drawn;
      });
      tile::add_products(b, d_q, s, here);
      b.sync();
    }
    float const by = p.scale() * kept.weight();
    TX_UNROLL
    for (int r = 0; r < 2; ++r) {
      int const i = mine + g + 8 * r;
      if (i >= queries.length) continue;
      TX_UNROLL
      for (int c = 0; c < tile::across; ++c) {
        int const d = 8 * c + lane % 4 * 2;
        if (d < p.head) tile::store(a.d_q, (queries.first + i) * a.d_q_apart + h * p.head + d, p.f.rounds, by * d_q[c][2 * r], by * d_q[c][2 * r + 1]);
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
  static constexpr int numbers_bytes = 3 * attention_lines * 4, step_bytes = numbers_bytes + kept_words::tile_bytes;  // of each query: greatest, log_sum, product; what was kept
  static constexpr std::int64_t shared_bytes = 6 * tile::bytes + 2 * step_bytes;  // keys and values; queries, their d_out and numbers of two steps

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    attention_problem const& p = a.p;
    attention_place const place(b, p.keys, p.f.key_heads);
    int const first = place.first, of = place.h;
    std::int64_t const t = place.t;
    auto const queries = p.queries_of(t), keys = p.keys_of(t);
    if (first >= keys.length || queries.length == 0) return;

    auto const seeing = p.queries_seen(first, queries.length, keys.length);
    int const group = p.f.heads / p.f.key_heads, steps = seeing.first < seeing.end ? attention_tiles(seeing.end - seeing.first) : 0;
    std::int64_t const width = std::int64_t{p.f.heads} * p.head, key_width = std::int64_t{p.f.key_heads} * p.head;
    std::byte* const room = b.shared();
    // Queries of each head of the group, a step after the other.
    int next = 0, next_head = of * group, next_query = seeing.first;
    auto const copy_queries = [&] {
      if (next < group * steps) {
        std::byte* const to = room + 2 * tile::bytes + next % 2 * 2 * tile::bytes;
        int const h = next_head, i = next_query;
        std::int64_t const at = 2 * ((queries.first + i) * width + h * p.head);
        tile::copy(b, to, p.q + at, width, queries.length - i, p.head);
        tile::copy(b, to + tile::bytes, a.d_out + at, width, queries.length - i, p.head);
        std::byte* const behind = room + 6 * tile::bytes + next % 2 * step_bytes;
        auto* const numbers = reinterpret_cast<float*>(behind);
        int const k = b.thread() % attention_lines;
        bool const there = i + k < queries.length;
        std::int64_t const row = p.row(t, h, i + k);
        if (b.thread() < attention_lines) {
          numbers[k] = there ? a.greatest[row] : std::numeric_limits<float>::infinity();  // of which the probability is 0
          numbers[attention_lines + k] = there ? a.log_sum[row] : 0;
        } else {
          numbers[2 * attention_lines + k] = there ? a.product[row] : 0;
        }
        static_assert(kept_words::tile_bytes <= 16 * threads);
        if (p.rate != nullptr && b.thread() < kept_words::tile_bytes / 16)
          b.copy(behind + numbers_bytes + 16 * b.thread(), reinterpret_cast<std::byte const*>(a.kept + kept_words::at(p, t, h, i, first)) + 16 * b.thread(), 16);
        ++next;
        next_query += attention_lines;
        if (next_query >= seeing.end) {
          next_query = seeing.first;
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
    bool takes_part[2];
    TX_UNROLL
    for (int r = 0; r < 2; ++r) takes_part[r] = p.mask == nullptr || (mine + g + 8 * r < keys.length && p.mask[t * p.keys + mine + g + 8 * r] != 0);
    typename tile::wide_sums d_k = {}, d_v = {};
    for (int n = 0, h = of * group, i = seeing.first; n < group * steps; ++n) {
      copy_queries();
      b.template wait_copies<1>();
      b.sync();
      std::byte const* const here = room + 2 * tile::bytes + n % 2 * 2 * tile::bytes;
      std::byte const* const behind = room + 6 * tile::bytes + n % 2 * step_bytes;
      typename tile::line_sums probability = {}, slope = {};
      tile::add_lines(b, probability, room, here);
      tile::add_lines(b, slope, room + tile::bytes, here + tile::bytes);
      attention_scores{p, t, h, i, mine + g, queries.length, keys.length}.template of_keys<D, Biased>(probability, lane);
      seeing_queries const sees(p, takes_part, i, mine + g);
      seen_columns const seen[2] = {{sees.see[0], lane}, {sees.see[1], lane}};
      if (!sees.all())
        tile::each([&](int c, int e) {
          if (!seen[e / 2].has(c, e)) probability[c][e] = static_cast<float>(masked_score);
        });
      TX_UNROLL
      for (int k = 0; k < attention_lines / 16; ++k) {
        // Of a lane's four of sixteen queries.
        auto const number = [&](int which) { return load_own<float, 4>(behind + 4 * (which * attention_lines + column_of(2 * k, lane))); };
        columns<float, 4> const greatest = number(0), log_sum = number(1), product = number(2);
        auto const each = [&](auto const& kept_of) {
          for (int c = 2 * k; c < 2 * k + 2; ++c)
            for (int e = 0; e < 4; ++e) {
              int const query = c % 2 * 2 + e % 2;
              bool const is_kept = kept_of(c, e);
              float const x = b.exp2(score_power<Biased> * (probability[c][e] - greatest.x[query] - log_sum.x[query]));
              slope[c][e] = x * ((is_kept ? slope[c][e] : 0) - product.x[query]);
              probability[c][e] = is_kept ? x : 0;
            }
        };
        if (kept.any()) {
          kept_queries const words(reinterpret_cast<std::uint32_t const*>(behind + numbers_bytes), k, b.thread());
          each([&](int c, int e) { return words.has(c, e); });
        } else {
          each([](int, int) { return true; });
        }
      }
      // Beside no key that it sees a query has equal probabilities for all, which no score changes.
      if (!sees.all())
        tile::each([&](int c, int e) {
          if (!seen[e / 2].has(c, e)) slope[c][e] = 0;
        });
      tile::add_products(b, d_v, probability, here + tile::bytes);
      tile::add_products(b, d_k, slope, here);
      b.sync();
      i += attention_lines;
      if (i >= seeing.end) {
        i = seeing.first;
        ++h;
      }
    }
    float const of_value = kept.weight(), of_key = p.scale() * of_value;
    TX_UNROLL
    for (int r = 0; r < 2; ++r) {
      int const j = mine + g + 8 * r;
      if (j >= keys.length) continue;
      TX_UNROLL
      for (int c = 0; c < tile::across; ++c) {
        int const d = 8 * c + lane % 4 * 2;
        if (d >= p.head) continue;
        std::int64_t const to = (keys.first + j) * a.d_k_apart + of * p.head + d;
        tile::store(a.d_k, to, p.f.rounds, of_key * d_k[c][2 * r], of_key * d_k[c][2 * r + 1]);
        tile::store(a.d_v, to, p.f.rounds, of_value * d_v[c][2 * r], of_value * d_v[c][2 * r + 1]);
      }
    }
  }
};

}  // namespace tx::backends::device
