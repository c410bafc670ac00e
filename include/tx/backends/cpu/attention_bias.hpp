// The gradient of a bias on the scores. A share owns blocks of its elements and goes through all texts, heads, queries and keys that they were
// broadcast to, in order; the gradients of the scores are computed again for it.
#pragma once

#include <tx/backends/cpu/attention_gradient.hpp>
#include <tx/backends/cpu/attention_work.hpp>

namespace tx::backends::cpu::detail {

template <class T>
class bias_gradient {
  using S = attention_sum<T>;

 public:
  bias_gradient(attention_problem<T> const& p, attention_gradients<T> const& g, std::byte* scratch)
      : p_(p), g_(g), columns_(attention_columns(p.sizes.head)), room_{reinterpret_cast<S*>(scratch)}, block_(p, g, room_) {
    keys_ = room_.take(attention_keys * columns_);
    values_ = room_.take(attention_keys * columns_);
    sum_ = room_.take(attention_keys * attention_queries);
    for (std::int64_t t = 0; t < (p.query_offsets == nullptr ? std::min<std::int64_t>(1, p.sizes.texts) : p.sizes.texts); ++t) {
      attention_text const text = text_of(p, t);
      longest_.queries = std::max(longest_.queries, text.queries);
      longest_.keys = std::max(longest_.keys, text.keys);
    }
  }

  void run(int share, int share_count) {
    // Along each axis, the blocks of elements.
    auto const count = [&](int axis, std::int64_t n) { return g_.d_bias.stride[axis] == 0 ? std::min<std::int64_t>(1, n) : n; };
    std::int64_t const n[] = {count(0, p_.sizes.texts), count(1, p_.sizes.heads), count(2, fixed_blocks(longest_.queries)), count(3, attention_steps(longest_.keys))};
    std::int64_t const units = n[0] * n[1] * n[2] * n[3];
    for (std::int64_t u = units * share / share_count; u < units * (share + 1) / share_count; ++u)
      add({u / (n[3] * n[2] * n[1]), u / (n[3] * n[2]) % n[1], u / n[3] % n[2], u % n[3]});
  }

 private:
  struct place {
    std::int64_t text, head, block, step;
  };
  struct extents {
    std::int64_t queries = 0, keys = 0;
  };

  static std::int64_t fixed_blocks(std::int64_t queries) { return (queries + attention_queries - 1) / attention_queries; }
  bool broadcast(int axis) const { return g_.d_bias.stride[axis] == 0; }

  // body(k) for the one that is owned, or all if the axis is broadcast.
  template <class Body>
  void along(int axis, std::int64_t owned, std::int64_t all, Body body) {
    for (std::int64_t k = broadcast(axis) ? 0 : owned; k < (broadcast(axis) ? all : std::min(all, owned + 1)); ++k) body(k);
  }

  void add(place const& at) {
    std::fill_n(sum_, attention_keys * attention_queries, S(0));
    along(0, at.text, p_.sizes.texts, [&](std::int64_t t) {
      attention_view<T> const view{p_, text_of(p_, t)};
      along(1, at.head, p_.sizes.heads, [&](std::int64_t h) {
        along(2, at.block, fixed_blocks(view.t.queries), [&](std::int64_t i) {
          std::int64_t const first = i * attention_queries;
          attention_block const b{h, first, std::min(attention_queries, view.t.queries - first)};
          bool loaded = false;
          along(3, at.step, attention_steps(view.t.keys), [&](std::int64_t k) { loaded = add_step(view, b, step_of(view.t, k), loaded); });
        });
      });
    });
    extents const here = broadcast(0) ? longest_ : extents{text_of(p_, at.text).queries, text_of(p_, at.text).keys};
    if (g_.d_bias.in_f32) write(static_cast<f32*>(g_.d_bias.data), at, here);
    else write(static_cast<T*>(g_.d_bias.data), at, here);
  }

  // Is the block loaded now?
  bool add_step(attention_view<T> const& view, attention_block const& b, attention_step const& s, bool loaded) {
    seen const how = view.sees(b, s);
    if (how == seen::none) return loaded;  // no gradient passes what does not take part
    if (!loaded) block_.load(view, b);
    std::int64_t const row = p_.sizes.key_heads * p_.sizes.head;
    std::int64_t const start = (view.t.first_key + s.first) * row + b.head / (p_.sizes.heads / p_.sizes.key_heads) * p_.sizes.head;
    load_rows(p_.k + start, row, s.count, p_.sizes.head, S(1), keys_, columns_);
    load_rows(p_.v + start, row, s.count, p_.sizes.head, S(1), values_, columns_);
    block_.step(view, b, s, how, keys_, values_);
    extent const n = b.lanes_used();
    for (extent j = 0; j < s.count; ++j)
      for (extent c = 0; c < n; c += lanes)
        (simd<S>::load(sum_ + j * attention_queries + c) + simd<S>::load(block_.d_scores + j * n + c)).store(sum_ + j * attention_queries + c);
    return true;
  }

  template <class B>
  void write(B* to, place const& at, extents const& here) {
    auto const& stride = g_.d_bias.stride;
    std::int64_t const i0 = broadcast(2) ? 0 : at.block * attention_queries, j0 = broadcast(3) ? 0 : at.step * attention_keys;
    if (broadcast(3))
      for (extent j = 1; j < attention_keys; ++j)
        for (extent i = 0; i < attention_queries; ++i) sum_[i] += sum_[j * attention_queries + i];
    std::int64_t const rows = broadcast(2) ? 1 : std::min(attention_queries, here.queries - i0), columns = broadcast(3) ? 1 : std::min(attention_keys, here.keys - j0);
    for (std::int64_t j = 0; j < columns; ++j) {
      S* const from = sum_ + j * attention_queries;
      if (broadcast(2))
        for (extent i = 1; i < attention_queries; ++i) from[0] += from[i];
      for (std::int64_t i = 0; i < rows; ++i) {
        B& x = to[at.text * stride[0] + at.head * stride[1] + (i0 + i) * stride[2] + (j0 + j) * stride[3]];
        if constexpr (is_half(dtype_v<B>)) x = B::from(from[i]);
        else x = static_cast<B>(from[i]);
      }
    }
  }

  attention_problem<T> const& p_;
  attention_gradients<T> const& g_;
  extent columns_;
  attention_room<S> room_;
  gradient_block<T> block_;
  S *keys_, *values_, *sum_;
  extents longest_{};
};

}  // namespace tx::backends::cpu::detail
