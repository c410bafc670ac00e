// attention_backward: a share has the keys of a text, or a stripe of them, in one key head. A chunk of them lies with its gradients in the
// second-level cache while the blocks of queries of all heads that share it pass by; their probabilities come from greatest and log_sum. All is turned as in
// forward, [keys, queries], so that none of the five products needs a side packed but the block itself.
#pragma once

#include <tx/backends/cpu/attention.hpp>
#include <tx/backends/cpu/attention_gradient.hpp>
#include <tx/backends/cpu/attention_work.hpp>

namespace tx::backends::cpu {

namespace detail {

template <class T>
class backward_unit {
  using S = attention_sum<T>;

 public:
  backward_unit(attention_problem<T> const& p, attention_gradients<T> const& g, std::byte* sums, std::byte* scratch)
      : p_(p), g_(g), sums_(reinterpret_cast<S*>(sums)), columns_(attention_columns(p.sizes.head)), room_{reinterpret_cast<S*>(scratch)}, block_(p, g, room_) {
    std::int64_t const chunk = attention_chunk(p.sizes.head) * columns_;
    d_turned_ = room_.take(attention_queries * columns_);
    keys_ = room_.take(chunk);
    values_ = room_.take(chunk);
    d_keys_ = room_.take(chunk);
    d_values_ = room_.take(chunk);
  }

  void run(attention_view<T> const& view, std::int64_t key_head, std::int64_t stripe, std::int64_t stripes) {
    attention_sizes const& s = p_.sizes;
    std::int64_t const row = s.heads * s.head, heads = s.heads / s.key_heads, chunks = attention_chunks(view.t.keys, s.head);
    bool const direct = attention_direct(s, view.t.keys);
    std::int64_t const start = view.t.first_query * row + key_head * heads * s.head;
    S* const to = direct ? g_.d_q : sums_ + stripe * rows_of_q(p_) * row;
    S* const sums = view.t.queries > 0 ? to + start : nullptr;
    zero_rows(sums, row, view.t.queries, heads * s.head);
    if (stripe == 0) clear_rest(view, key_head);
    for (std::int64_t c = chunks * stripe / stripes; c < chunks * (stripe + 1) / stripes; ++c) {
      std::int64_t const first = c * attention_chunk(s.head), end = std::min(view.t.keys, first + attention_chunk(s.head));
      std::int64_t const key_row = s.key_heads * s.head, at = (view.t.first_key + first) * key_row + key_head * s.head;
      load_rows(p_.k + at, key_row, end - first, s.head, S(1), keys_, columns_);
      load_rows(p_.v + at, key_row, end - first, s.head, S(1), values_, columns_);
      std::fill_n(d_keys_, (end - first) * columns_, S(0));
      std::fill_n(d_values_, (end - first) * columns_, S(0));
      for (std::int64_t g = 0; g < heads; ++g)
        for (std::int64_t i = 0; i < attention_blocks(view.t.queries); ++i) {
          auto const b = block_of(view.t.queries, key_head * heads + g, i);
          if (!add(view, b, first, end)) continue;
          add_rows(b, sums + g * s.head + b.first * row);
        }
      store_rows(d_keys_, columns_, end - first, s.head, S(1), g_.d_k + at, key_row);
      store_rows(d_values_, columns_, end - first, s.head, S(1), g_.d_v + at, key_row);
    }
  }

 private:
  // Rows of memory between the keys of one text and those of the next.
  void clear_rest(attention_view<T> const& view, std::int64_t key_head) {
    attention_sizes const& s = p_.sizes;
    std::int64_t const row = s.key_heads * s.head, at = (view.t.first_key + view.t.keys) * row + key_head * s.head;
    if (p_.query_offsets != nullptr || p_.key_rows <= view.t.keys) return;
    zero_rows(g_.d_k + at, row, p_.key_rows - view.t.keys, s.head);
    zero_rows(g_.d_v + at, row, p_.key_rows - view.t.keys, s.head);
  }

  // What a block of queries adds to the gradients of keys [first, end) and they to its own, turned. False: they see none of them.
  bool add(attention_view<T> const& view, attention_block const& b, std::int64_t first, std::int64_t end) {
    attention_sizes const& s = p_.sizes;
    extent const n = b.lanes_used(), head = whole_vectors(s.head);
    bool const all = block_.sees_nothing_somewhere(view, b);
    bool any = false;
    for (std::int64_t k = first / attention_keys; k < attention_steps(end); ++k) {
      auto const step = step_of(view.t, k);
      seen const how = view.sees(b, step);
      if (how == seen::none && !all) continue;
      if (!any) block_.load(view, b);
      std::int64_t const at = (step.first - first) * columns_;
      block_.step(view, b, step, how, keys_ + at, values_ + at);
      block_product(step.count, head, b.rows, {block_.probabilities, n, 1}, block_.d_out, columns_, d_values_ + at, columns_, true);
      block_product(step.count, head, b.rows, {block_.d_scores, n, 1}, block_.q, columns_, d_keys_ + at, columns_, true);
      block_product(s.head, n, step.count, {keys_ + at, 1, columns_}, block_.d_scores, n, d_turned_, n, any);
      any = true;
    }
    return any;
  }

  // The gradient of a block's queries, added to what other keys have given.
  void add_rows(attention_block const& b, S* to) {
    attention_sizes const& s = p_.sizes;
    extent const n = b.lanes_used();
    S* const rows = block_.q;  // not needed any more
    turn(d_turned_, n, whole_vectors(s.head), n, rows, columns_);
    store_rows<true>(rows, columns_, b.rows, s.head, p_.scale, to, s.heads * s.head);
  }

  attention_problem<T> const& p_;
  attention_gradients<T> const& g_;
  S* sums_;
  extent columns_;
  attention_room<S> room_;
  gradient_block<T> block_;
  S *d_turned_, *keys_, *values_, *d_keys_, *d_values_;
};

}  // namespace detail

template <class T>
void attention_backward(int share, int share_count, attention_problem<T> const& problem, attention_gradients<T> const& gradients, std::byte* sums,
                        std::byte* scratch) {
  using namespace detail;
  using S = attention_sum<T>;
  attention_sizes const& s = problem.sizes;
  backward_unit<T> unit(problem, gradients, sums, scratch);
  auto const stripes = [&](attention_view<T> const& view) { return attention_stripes(s, view.t.keys); };
  auto const cost = [&](attention_view<T> const& view) { return attention_blocks(view.t.queries) * (attention_steps(view.t.keys) / stripes(view) + 1) + 1; };
  for_texts(share, share_count, problem, [&](attention_view<T> const& view) { return s.key_heads * stripes(view) * cost(view); },
            [&](attention_view<T> const& view, work_range const& mine) {
              std::int64_t at = 0;
              for (std::int64_t h = 0; h < s.key_heads; ++h)
                for (std::int64_t i = 0; i < stripes(view); ++i, at += cost(view))
                  if (mine.has(at)) unit.run(view, h, i, stripes(view));
            });
  if (share != 0) return;
  for_rows_of_no_text(problem.key_offsets, s.texts, problem.longest_keys, s.keys, [&](std::int64_t first, std::int64_t end) {
    std::int64_t const row = s.key_heads * s.head;
    std::fill(gradients.d_k + first * row, gradients.d_k + end * row, S(0));
    std::fill(gradients.d_v + first * row, gradients.d_v + end * row, S(0));
  });
  for_rows_of_no_text(problem.query_offsets, s.texts, problem.longest, s.queries, [&](std::int64_t first, std::int64_t end) {
    std::int64_t const row = s.heads * s.head;
    std::fill(gradients.d_q + first * row, gradients.d_q + end * row, S(0));
  });
}

}  // namespace tx::backends::cpu
