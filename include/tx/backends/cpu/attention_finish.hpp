// attention_backward_finish: the gradient of q as the sum of its stripes, in order, and that of a bias.
#pragma once

#include <tx/backends/cpu/attention.hpp>
#include <tx/backends/cpu/attention_bias.hpp>

namespace tx::backends::cpu {

namespace detail {

template <class T>
void add_stripes(attention_problem<T> const& p, attention_gradients<T> const& g, attention_sum<T> const* sums, attention_view<T> const& view, std::int64_t head) {
  attention_sizes const& s = p.sizes;
  std::int64_t const row = s.heads * s.head, stripes = attention_stripes(s, view.t.keys), start = view.t.first_query * row + head * s.head;
  for (std::int64_t i = 0; i < view.t.queries; ++i)
    for (extent c = 0; c < s.head; c += lanes) {
      std::int64_t const at = start + i * row + c;
      auto const n = static_cast<int>(std::min<extent>(lanes, s.head - c));
      auto sum = simd<attention_sum<T>>::load_n(sums + at, n);
      for (std::int64_t k = 1; k < stripes; ++k) sum = sum + simd<attention_sum<T>>::load_n(sums + k * rows_of_q(p) * row + at, n);
      sum.store_n(g.d_q + at, n);
    }
}

}  // namespace detail

template <class T>
void attention_backward_finish(int share, int share_count, attention_problem<T> const& problem, attention_gradients<T> const& gradients, std::byte const* sums,
                               std::byte* scratch) {
  using namespace detail;
  attention_sizes const& s = problem.sizes;
  auto const cost = [&](attention_view<T> const& view) { return attention_direct(s, view.t.keys) ? 0 : attention_stripes(s, view.t.keys) * view.t.queries; };
  for_texts(share, share_count, problem, [&](attention_view<T> const& view) { return s.heads * cost(view); },
            [&](attention_view<T> const& view, work_range const& mine) {
              for (std::int64_t h = 0; h < s.heads && cost(view) > 0; ++h)
                if (mine.has(h * cost(view))) add_stripes(problem, gradients, reinterpret_cast<attention_sum<T> const*>(sums), view, h);
            });
  if (gradients.d_bias.data != nullptr) bias_gradient<T>(problem, gradients, scratch).run(share, share_count);
}

}  // namespace tx::backends::cpu
