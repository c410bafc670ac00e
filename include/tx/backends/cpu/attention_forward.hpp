// attention_forward: a block of queries walks over the keys it sees, a step at a time, with the greatest score and the sum so far of each query.
// Scores are [keys, queries]: nothing is packed but the block itself, turned once, and each query has a lane of its own.
#pragma once

#include <tx/backends/cpu/attention.hpp>
#include <tx/backends/cpu/attention_scores.hpp>
#include <tx/backends/cpu/attention_work.hpp>

#include <span>

namespace tx::backends::cpu {

namespace detail {

// One share's memory, and what it does with neighbouring blocks of queries: they pass over the keys together, so that a step of keys is brought
// into whole vectors, side by side, once for all of them.
template <class T>
class forward_blocks {
  using S = attention_sum<T>;

  struct state {
    attention_block of;
    key_range keys;
    bool any;  // keys so far?
    S *turned, *out, *greatest, *sum;
  };

 public:
  forward_blocks(attention_problem<T> const& p, attention_result<T> const& result, std::byte* scratch)
      : p_(p), result_(result), columns_(attention_columns(p.sizes.head)) {
    attention_room<S> room{reinterpret_cast<S*>(scratch)};
    for (state& b : blocks_) {
      b.turned = room.take(attention_queries * columns_);
      b.out = room.take(attention_queries * columns_);
      b.greatest = room.take(attention_queries);
      b.sum = room.take(attention_queries);
    }
    scores_ = room.take(attention_keys * attention_queries);
    room_ = room.take(2 * attention_keys * attention_queries);
    decay_ = room.take(attention_queries);
    keys_ = room.take(attention_keys * columns_);
    values_ = room.take(attention_keys * columns_);
  }

  // Blocks [first, end) of the queries of one head.
  void run(attention_view<T> const& view, std::int64_t head, std::int64_t first, std::int64_t end) {
    std::span<state> const blocks(blocks_, static_cast<std::size_t>(end - first));
    key_range all{view.t.keys, 0};
    for (std::int64_t i = first; i < end; ++i) {
      state& b = blocks_[i - first];
      b.of = block_of(view.t.queries, head, i);
      b.keys = view.range(b.of);
      all = {std::min(all.first, b.keys.first), std::max(all.end, b.keys.end)};
      open(view, b);
    }
    for (std::int64_t k = all.first / attention_keys; k < attention_steps(all.end); ++k) {
      auto const step = step_of(view.t, k);
      bool loaded = false;
      for (state& b : blocks)
        if (seen const how = view.sees(b.of, step); how != seen::none) {
          if (!loaded) load(view, head, step);
          loaded = true;
          add(view, b, step, how);
          next_ = {};
        }
    }
    for (state& b : blocks) {
      // Queries that see nothing have equal probabilities for all keys, those passed over too.
      if (std::any_of(b.greatest, b.greatest + b.of.rows, [](S x) { return x <= nearly_masked; }))
        for (std::int64_t k = 0; k < attention_steps(view.t.keys); ++k)
          if (auto const step = step_of(view.t, k); view.sees(b.of, step) == seen::none) {
            load(view, head, step);
            add(view, b, step, seen::none);
          }
      close(view, b);
    }
  }

 private:
  std::int64_t start(attention_view<T> const& view, attention_block const& b) const {
    return (view.t.first_query + b.first) * p_.sizes.heads * p_.sizes.head + b.head * p_.sizes.head;
  }

  void open(attention_view<T> const& view, state& b) {
    attention_sizes const& s = p_.sizes;
    extent const n = b.of.lanes_used();
    load_rows(p_.q + start(view, b.of), s.heads * s.head, b.of.rows, s.head, p_.scale, b.out, columns_);
    turn(b.out, columns_, n, whole_vectors(s.head), b.turned, n);
    std::fill_n(b.greatest, n, S(masked));
    std::fill_n(b.sum, n, S(0));
    b.any = false;
  }

  void load(attention_view<T> const& view, std::int64_t head, attention_step const& step) {
    attention_sizes const& s = p_.sizes;
    extent const row = s.key_heads * s.head;
    std::int64_t const at = (view.t.first_key + step.first) * row + head / (s.heads / s.key_heads) * s.head;
    load_rows(p_.k + at, row, step.count, s.head, S(1), keys_, columns_);
    load_rows(p_.v + at, row, step.count, s.head, S(1), values_, columns_);
    extent const next = (step.first + attention_keys < view.t.keys ? attention_keys * row : s.head - step.first * row);
    next_ = {{reinterpret_cast<std::byte const*>(p_.k + at + next), reinterpret_cast<std::byte const*>(p_.v + at + next)},
             row * static_cast<extent>(sizeof(T)), s.head * static_cast<extent>(sizeof(T))};
  }

  // One step of keys: out [head, queries] = out decay + v^T probabilities.
  void add(attention_view<T> const& view, state& b, attention_step const& step, seen how) {
    extent const n = b.of.lanes_used();
    view.scores(b.of, step, how, {keys_, columns_, 1}, b.turned, scores_, room_, next_);
    probabilities(b, step.count);
    if (p_.dropout.rate > 0) {
      simd<S> const kept(static_cast<S>(1.f / (1.f - p_.dropout.rate)));
      view.for_kept(b.of, step, [&](extent at, simd<bool> keeps) __attribute__((always_inline)) {
        select(keeps, simd<S>::load(scores_ + at) * kept, simd<S>(S(0))).store(scores_ + at);
      });
    }
    block_product(p_.sizes.head, n, step.count, {values_, 1, columns_}, scores_, n, b.out, n, b.any);
    b.any = true;
  }

  // Scores become exp(score - greatest); what is summed so far shrinks by as much as the greatest has grown.
  __attribute__((noinline)) void probabilities(state& b, extent count) {
    extent const n = b.of.lanes_used();
    bool shrinks = false;
    for (extent c = 0; c < n; c += lanes) {
      S* const column = scores_ + c;
      auto const before = simd<S>::load(b.greatest + c);
      simd<S> most[4] = {before, before, before, before};
      extent j = 0;
      for (; j + 4 <= count; j += 4)
#pragma GCC unroll 4
        for (int k = 0; k < 4; ++k) most[k] = max(most[k], simd<S>::load(column + (j + k) * n));
      for (; j < count; ++j) most[0] = max(most[0], simd<S>::load(column + j * n));
      auto const now = max(max(most[0], most[1]), max(most[2], most[3]));
      auto const decay = exp_of_negative(before - now);
      simd<S> sum[2] = {simd<S>::load(b.sum + c) * decay, simd<S>(S(0))};
      now.store(b.greatest + c);
      decay.store(decay_ + c);
      shrinks = shrinks || any(decay != simd<S>(S(1)));
      auto const exponent = [&](extent at, simd<S>& to) __attribute__((always_inline)) {
        auto const x = exp_of_negative(simd<S>::load(column + at) - now);
        x.store(column + at);
        to = to + x;
      };
      for (j = 0; j + 2 <= count; j += 2) {
        exponent(j * n, sum[0]);
        exponent((j + 1) * n, sum[1]);
      }
      if (j < count) exponent(j * n, sum[0]);
      (sum[0] + sum[1]).store(b.sum + c);
    }
    if (!shrinks || !b.any) return;
    for (extent d = 0; d < p_.sizes.head; ++d)
      for (extent c = 0; c < n; c += lanes) (simd<S>::load(b.out + d * n + c) * simd<S>::load(decay_ + c)).store(b.out + d * n + c);
  }

  void close(attention_view<T> const& view, state const& b) {
    attention_sizes const& s = p_.sizes;
    extent const n = b.of.lanes_used();
    if (!b.any) std::fill_n(b.out, whole_vectors(s.head) * n, S(0));
    for (extent c = 0; c < n; c += lanes) {
      auto const sum = simd<S>::load(b.sum + c), scale = b.any ? S(1) / sum : simd<S>(S(0));
      for (extent d = 0; d < s.head; ++d) (simd<S>::load(b.out + d * n + c) * scale).store(b.out + d * n + c);
      std::int64_t const at = view.t.row(b.of.head) + b.of.first + c;
      auto const count = static_cast<int>(std::min<extent>(lanes, b.of.rows - c));
      simd<S>::load(b.greatest + c).store_n(result_.greatest + at, count);
      log(sum).store_n(result_.log_sum + at, count);
    }
    turn(b.out, n, whole_vectors(s.head), n, b.turned, columns_);
    store_rows(b.turned, columns_, b.of.rows, s.head, S(1), result_.out + start(view, b.of), s.heads * s.head);
  }

  attention_problem<T> const& p_;
  attention_result<T> const& result_;
  extent columns_;
  state blocks_[attention_together];
  rows_ahead next_{};
  S *scores_, *room_, *decay_, *keys_, *values_;
};

}  // namespace detail

template <class T>
void attention_forward(int share, int share_count, attention_problem<T> const& problem, attention_result<T> const& result, std::byte* scratch) {
  using namespace detail;
  attention_sizes const& s = problem.sizes;
  std::int64_t const row = s.heads * s.head;
  forward_blocks<T> blocks(problem, result, scratch);
  // Units of a head are groups of blocks.
  auto const groups = [](attention_view<T> const& view) { return (attention_blocks(view.t.queries) + attention_together - 1) / attention_together; };
  auto const first_of = [&](attention_view<T> const& view, std::int64_t group) { return attention_blocks(view.t.queries) * group / groups(view); };
  auto const cost = [&](attention_view<T> const& view, std::int64_t group) {
    std::int64_t sum = 1;
    for (std::int64_t b = first_of(view, group); b < first_of(view, group + 1); ++b) sum += view.steps_seen(block_of(view.t.queries, 0, b)) + 1;
    return sum;
  };
  auto const of_head = [&](attention_view<T> const& view) {
    std::int64_t sum = 0;
    for (std::int64_t g = 0; g < groups(view); ++g) sum += cost(view, g);
    return sum;
  };
  for_texts(share, share_count, problem, [&](attention_view<T> const& view) { return s.heads * of_head(view); },
            [&](attention_view<T> const& view, work_range const& mine) {
              std::int64_t const each = of_head(view);
              for (std::int64_t h = 0, at = 0; h < s.heads && at < mine.end; ++h) {
                if (at + each <= mine.first) {
                  at += each;
                  continue;
                }
                for (std::int64_t g = 0; g < groups(view); ++g) {
                  if (mine.has(at)) blocks.run(view, h, first_of(view, g), first_of(view, g + 1));
                  at += cost(view, g);
                }
              }
            });
  if (share == 0)
    for_rows_of_no_text(problem.query_offsets, s.texts, problem.longest, s.queries, [&](std::int64_t first, std::int64_t end) {
      std::fill(result.out + first * row, result.out + end * row, T{});
    });
}

}  // namespace tx::backends::cpu
