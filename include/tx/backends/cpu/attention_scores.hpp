// Which keys which queries see, and the scores of a block of queries with some keys: [keys, queries], the queries in the lanes.
#pragma once

#include <tx/backends/cpu/attention_exp.hpp>
#include <tx/backends/cpu/attention_problem.hpp>
#include <tx/backends/cpu/attention_rows.hpp>
#include <tx/backends/cpu/attention_random.hpp>

namespace tx::backends::cpu::detail {

// One text: its rows of q and k, and where the first query of head 0 is among the rows of scores, which is also its row of dropout.
struct attention_text {
  std::int64_t index, first_query, queries, first_key, keys, first_row, rows_of_head;

  std::int64_t row(std::int64_t head) const { return first_row + head * rows_of_head; }
};
template <class T>
attention_text text_of(attention_problem<T> const& p, std::int64_t t) {
  attention_sizes const& s = p.sizes;
  if (p.query_offsets == nullptr) return {t, t * s.queries, s.queries, t * (p.key_rows > 0 ? p.key_rows : s.keys), s.keys, t * s.heads * s.queries, s.queries};
  // Whatever the offsets are, no row is touched that is not there.
  auto const at = [t](i32 const* offsets, std::int64_t k, std::int64_t rows) { return std::clamp<std::int64_t>(offsets[t + k], 0, rows); };
  std::int64_t const q = at(p.query_offsets, 0, s.queries), k = at(p.key_offsets, 0, s.keys);
  return {t, q, std::clamp<std::int64_t>(at(p.query_offsets, 1, s.queries) - q, 0, p.longest),
          k, std::clamp<std::int64_t>(at(p.key_offsets, 1, s.keys) - k, 0, p.longest_keys), t * s.heads * p.longest, p.longest};
}

// Rows of q and of scores, over all texts.
template <class T>
std::int64_t rows_of_q(attention_problem<T> const& p) {
  return p.query_offsets == nullptr ? p.sizes.texts * p.sizes.queries : p.sizes.queries;
}

// Queries [first, first + rows) of a text in one head, of whole vectors of lanes. Blocks of a text are of nearly equal length.
struct attention_block {
  std::int64_t head, first, rows;

  extent lanes_used() const { return whole_vectors(rows); }
};
constexpr std::int64_t attention_blocks(std::int64_t queries) { return (queries + attention_queries - 1) / attention_queries; }
constexpr attention_block block_of(std::int64_t queries, std::int64_t head, std::int64_t b) {
  std::int64_t const vectors = (queries + lanes - 1) / lanes, blocks = attention_blocks(queries);
  std::int64_t const first = vectors * b / blocks * lanes, end = vectors * (b + 1) / blocks * lanes;
  return {head, first, std::min(queries, end) - first};
}

// Of the keys of a step, do none take part for any of a block's queries, some, or all for every one?
enum class seen { none, some, all };

struct key_range {
  std::int64_t first, end;
};

// The keys of a step: [first, first + count) of the text's.
struct attention_step {
  std::int64_t first;
  extent count;
};
inline attention_step step_of(attention_text const& t, std::int64_t step) {
  return {step * attention_keys, std::min(attention_keys, t.keys - step * attention_keys)};
}
constexpr std::int64_t attention_steps(std::int64_t keys) { return (keys + attention_keys - 1) / attention_keys; }

// What a problem says of one text.
template <class T>
struct attention_view {
  using S = attention_sum<T>;

  attention_problem<T> const& p;
  attention_text const t;

  std::int64_t behind() const { return t.keys - t.queries; }  // query i has the place of key i + behind()

  // The keys that causality and the window leave to queries [first, first + rows).
  key_range range(attention_block const& b) const {
    std::int64_t const from = b.first + behind(), to = from + b.rows;
    key_range r{0, t.keys};
    if (p.causal) r.end = std::min(r.end, to);
    if (p.window > 0) {
      r.first = std::max(r.first, from - p.window + 1);
      r.end = std::min(r.end, to + p.window - 1);
    }
    r.end = std::max(r.first, r.end);
    return r;
  }
  seen sees(attention_block const& b, attention_step const& s) const {
    key_range const r = range(b);
    std::int64_t const end = s.first + s.count;
    if (end <= r.first || s.first >= r.end) return seen::none;
    bool const bounded = (p.causal && end - 1 > b.first + behind()) ||
                         (p.window > 0 && (b.first + b.rows - 1 + behind() - s.first >= p.window || end - 1 - b.first - behind() >= p.window));
    seen const by_place = bounded ? seen::some : seen::all;
    if (p.key_mask == nullptr) return by_place;
    auto const* const mask = p.key_mask + t.first_key + s.first;
    std::int64_t kept = 0;
    for (extent j = 0; j < s.count; ++j) kept += mask[j] != 0;
    return kept == 0 ? seen::none : kept == s.count ? by_place : seen::some;
  }
  // A measure of the work that a block is.
  std::int64_t steps_seen(attention_block const& b) const {
    key_range const r = range(b);
    return r.end > r.first ? attention_steps(r.end) - r.first / attention_keys : 0;
  }

  // to [keys, queries]: what does not take part becomes `value`.
  void mask(attention_block const& b, attention_step const& s, S value, S* to) const {
    extent const n = b.lanes_used();
    for (extent j = 0; j < s.count; ++j, to += n) {
      std::int64_t const key = s.first + j;
      bool const out = p.key_mask != nullptr && p.key_mask[t.first_key + key] == 0;
      std::int64_t const place = key - behind();  // of the query beside it
      // Queries [first, end) of the text see it.
      std::int64_t first = p.causal ? place : INT32_MIN, end = INT32_MAX;
      if (p.window > 0) {
        first = std::max({first, place - p.window + 1, std::int64_t{INT32_MIN}});
        end = std::min(place + p.window, end);
      }
      for (extent c = 0; c < n; c += lanes) {
        auto const i = count_from(b.first + c);
        auto const x = simd<S>::load(to + c);
        if (out) simd<S>(value).store(to + c);
        else select(i >= simd<i32>(static_cast<i32>(first)) && i < simd<i32>(static_cast<i32>(end)), x, simd<S>(value)).store(to + c);
      }
    }
  }

  // Adds the bias to scores. `room`: two blocks of scores.
  void add_bias(attention_block const& b, attention_step const& s, S* scores, S* room) const {
    if (p.bias.in_f32) add_bias_of(static_cast<f32 const*>(p.bias.data), b, s, scores, room);
    else add_bias_of(static_cast<T const*>(p.bias.data), b, s, scores, room);
  }
  // Scores of which none take part.
  static void fill_masked(attention_block const& b, attention_step const& s, S* scores) { std::fill_n(scores, s.count * b.lanes_used(), S(masked)); }

  // scores [keys, queries] = k turned, k in rows of S; with bias and masks.
  void scores(attention_block const& b, attention_step const& s, seen how, matrix<S> k, S const* turned, S* to, S* room,
              rows_ahead const& ahead = {}) const {
    extent const n = b.lanes_used();
    if (how == seen::none) return fill_masked(b, s, to);
    block_product(s.count, n, p.sizes.head, k, turned, n, to, n, false, ahead);
    if (p.bias.data != nullptr) add_bias(b, s, to, room);
    if (how == seen::some) mask(b, s, masked, to);
  }

  // Does dropout keep it? body(offset of a vector in [keys, queries], which lanes it keeps)
  template <class F>
  TX_INLINE void for_kept(attention_block const& b, attention_step const& s, F body) const {
    attention_dropout const& d = p.dropout;
    extent const n = b.lanes_used();
    auto const row = d.rows(t.row(b.head) + b.first);
    simd<i32> const limit(static_cast<i32>(std::ceil(d.rate * 0x1p24f)));
    for (extent c = 0; c < n; c += lanes)
      for (extent j = 0; j < s.count; j += 4) {
        auto const words = random_words_of_rows(d.key, d.stream, row + static_cast<std::uint64_t>(c), static_cast<std::uint32_t>(s.first + j));
        for (extent w = 0; w < std::min<extent>(4, s.count - j); ++w) body((j + w) * n + c, ((words.of[w] >> 8) & simd<i32>(0xffffff)) >= limit);
      }
  }

 private:
  template <class B>
  __attribute__((noinline)) void add_bias_of(B const* bias, attention_block const& b, attention_step const& s, S* scores, S* room) const {
    auto const& stride = p.bias.stride;
    extent const n = b.lanes_used();
    bias += t.index * stride[0] + b.head * stride[1] + b.first * stride[2] + s.first * stride[3];
    if (stride[2] == 0) {
      for (extent j = 0; j < s.count; ++j)
        for (extent c = 0; c < n; c += lanes) max(simd<S>::load(scores + j * n + c) + simd<S>(static_cast<S>(number_of(bias[j * stride[3]]))), simd<S>(S(lowest))).store(scores + j * n + c);
      return;
    }
    S* const turned = room + attention_queries * attention_keys;
    if (stride[3] == 1) {
      load_rows(bias, stride[2], b.rows, s.count, S(1), room, attention_keys);
    } else {
      for (extent i = 0; i < b.rows; ++i)
        for (extent j = 0; j < s.count; ++j) room[i * attention_keys + j] = number_of(bias[i * stride[2] + j * stride[3]]);
      std::fill(room + b.rows * attention_keys, room + n * attention_keys, S(0));
    }
    turn(room, attention_keys, n, whole_vectors(s.count), turned, n);
    for (extent c = 0; c < s.count * n; c += lanes) max(simd<S>::load(scores + c) + simd<S>::load(turned + c), simd<S>(S(lowest))).store(scores + c);
  }
};

}  // namespace tx::backends::cpu::detail
