// The gradient by the scores of a block of queries with some keys, from greatest and log_sum: probabilities =
// exp(scores - greatest - log_sum), with dropout what is kept of them, and
// d_scores = probabilities (kept(d_out v^T) - rowsum(d_out out)).
#pragma once

#include <tx/backends/cpu/attention_forward.hpp>

namespace tx::backends::cpu::detail {

template <class T>
class gradient_block {
  using S = attention_sum<T>;

 public:
  // Of the block: q, times scale, and d_out, as rows. Of the step: [keys, queries].
  S *q, *d_out, *probabilities, *d_scores;

  gradient_block(attention_problem<T> const& p, attention_gradients<T> const& g, attention_room<S>& room) : p_(p), g_(g), columns_(attention_columns(p.sizes.head)) {
    q = room.take(attention_queries * columns_);
    d_out = room.take(attention_queries * columns_);
    q_turned_ = room.take(attention_queries * columns_);
    d_out_turned_ = room.take(attention_queries * columns_);
    probabilities = room.take(attention_keys * attention_queries);
    d_scores = room.take(attention_keys * attention_queries);
    room_ = room.take(2 * attention_keys * attention_queries);
    greatest_ = room.take(attention_queries);
    log_sum_ = room.take(attention_queries);
    inner_ = room.take(attention_queries);
  }

  // Has the block a query that sees no key? It has equal probabilities for all.
  bool sees_nothing_somewhere(attention_view<T> const& view, attention_block const& b) const {
    S const* const greatest = g_.greatest + view.t.row(b.head) + b.first;
    return std::any_of(greatest, greatest + b.rows, [](S x) { return x <= nearly_masked; });
  }

  __attribute__((noinline)) void load(attention_view<T> const& view, attention_block const& b) {
    attention_sizes const& s = p_.sizes;
    extent const n = b.lanes_used(), row = s.heads * s.head;
    std::int64_t const at = (view.t.first_query + b.first) * row + b.head * s.head;
    load_rows(g_.out + at, row, b.rows, s.head, S(1), q, columns_);
    load_rows(g_.d_out + at, row, b.rows, s.head, S(1), d_out, columns_);
    for (S* const x : {greatest_, log_sum_, inner_}) std::fill_n(x, n, S(0));
    std::int64_t const first = view.t.row(b.head) + b.first;
    std::copy_n(g_.greatest + first, b.rows, greatest_);
    std::copy_n(g_.log_sum + first, b.rows, log_sum_);
    sees_nothing_ = sees_nothing_somewhere(view, b);
    for (extent i = 0; i < b.rows; ++i) {
      simd<S> sum(S(0));
      for (extent c = 0; c < whole_vectors(s.head); c += lanes) sum = fma(simd<S>::load(q + i * columns_ + c), simd<S>::load(d_out + i * columns_ + c), sum);
      inner_[i] = reduce_add(sum);
    }
    load_rows(p_.q + at, row, b.rows, s.head, p_.scale, q, columns_);
    turn(q, columns_, n, whole_vectors(s.head), q_turned_, n);
    turn(d_out, columns_, n, whole_vectors(s.head), d_out_turned_, n);
  }

  // k, v: rows of the step, columns_ apart.
  void step(attention_view<T> const& view, attention_block const& b, attention_step const& s, seen how, S const* k, S const* v) {
    extent const n = b.lanes_used();
    view.scores(b, s, how, {k, columns_, 1}, q_turned_, probabilities, room_);
    block_product(s.count, n, p_.sizes.head, {v, columns_, 1}, d_out_turned_, n, d_scores, n, false);
    if (p_.dropout.rate > 0) {
      exponents<false>(s.count, n);
      dropped(view, b, s);
    } else {
      exponents<true>(s.count, n);
    }
    if (!sees_nothing_) return;  // what does not take part has no probability
    if (how == seen::none) std::fill_n(d_scores, s.count * n, S(0));
    else if (how == seen::some) view.mask(b, s, S(0), d_scores);
  }

 private:
  template <bool Finish>
  __attribute__((noinline)) void exponents(extent count, extent n) {
    for (extent c = 0; c < n; c += lanes) {
      auto const greatest = simd<S>::load(greatest_ + c), log_sum = simd<S>::load(log_sum_ + c), inner = simd<S>::load(inner_ + c);
      for (extent at = c; at < count * n; at += n) {
        auto const x = exp_of_negative(simd<S>::load(probabilities + at) - greatest - log_sum);
        x.store(probabilities + at);
        if constexpr (Finish) (x * (simd<S>::load(d_scores + at) - inner)).store(d_scores + at);
      }
    }
  }
  __attribute__((noinline)) void dropped(attention_view<T> const& view, attention_block const& b, attention_step const& s) {
    simd<S> const kept(static_cast<S>(1.f / (1.f - p_.dropout.rate))), none(S(0));
    extent const n = b.lanes_used();
    view.for_kept(b, s, [&](extent at, simd<bool> keeps) __attribute__((always_inline)) {
      auto const probability = simd<S>::load(probabilities + at);
      auto const slope = select(keeps, simd<S>::load(d_scores + at) * kept, none);
      (probability * (slope - simd<S>::load(inner_ + at % n))).store(d_scores + at);
      select(keeps, probability * kept, none).store(probabilities + at);
    });
  }

  attention_problem<T> const& p_;
  attention_gradients<T> const& g_;
  extent columns_;
  S *q_turned_, *d_out_turned_, *room_, *greatest_, *log_sum_, *inner_;
  bool sees_nothing_ = false;  // some query, of any key
};

}  // namespace tx::backends::cpu::detail
