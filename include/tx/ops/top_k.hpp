// top_k<K>(x): the K largest elements along the last axis, largest first, and where they are:
// [..., C] -> values [..., K], indices [..., K] (i32). Of equal elements the one with the lower index comes first; NaN
// counts as larger than every number, as in PyTorch. Gradients pass to the elements that were taken.
// Each element that enters the list moves up to K others; few do where K is small.
// Errors: K larger than the axis.
#pragma once

#include <tx/ops/argmax.hpp>
#include <tx/ops/gather.hpp>

namespace tx {

// The attribute of a top_k: how many it takes.
constexpr attributes of_top_k(int count) { return {{count}}; }
constexpr int top_k_count(attributes const& at) { return static_cast<int>(at.v[0]); }

namespace detail {
constexpr value_info top_k_infer(value_info const* in, int, attributes const& at) {
  value_info out = in[0];
  if (out.dims.rank == 0 || top_k_count(at) > out.dims.last())
    throw invalid("top_k: more elements are asked for than the last axis has. FIX: a smaller K");
  if (out.dims.is_bounded(out.dims.rank - 1))
    throw invalid("top_k: a bounded axis may have fewer elements than K. FIX: use it along another axis");
  out.dims.dim[out.dims.rank - 1] = top_k_count(at);
  return out;
}
constexpr value_info top_k_infer_result(value_info const* in, int count, attributes const& at, int k) {
  value_info out = top_k_infer(in, count, at);
  if (k == 1) out.type = dtype::i32;
  return out;
}
constexpr void top_k_vjp(vjp_context& c);
}  // namespace detail

// Results: values, indices.
inline constexpr op_info top_k_info{.name = "top_k",
                                    .kind = op_kind::whole,
                                    .arity = 1,
                                    .infer = detail::top_k_infer,
                                    .vjp = detail::top_k_vjp,
                                    .infer_result = detail::top_k_infer_result,
                                    .results = 2};

namespace rules {
struct top_k {
  // The result's row is the list of the best so far, in order: an element moves up past those it stands before.
  template <class V, class I, class T>
  static TX_HD void run(int share, int shares, attributes const&, whole_operand<V> values, whole_operand<I> indices, whole_operand<T const> in) {
    std::int64_t const k = values.dims.last();
    std::int64_t const width = in.dims.last();
    std::int64_t const rows = in.dims.count() / width;
    for (std::int64_t r = rows * share / shares; r < rows * (share + 1) / shares; ++r) {
      T const* const x = in.data + r * width;
      V* const best = values.data + r * k;
      I* const from = indices.data + r * k;
      std::int64_t known = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        auto stands_before = [&](std::int64_t place) { return detail::stands_before<false>(number_of(x[i]), number_of(best[place])); };
        if (known == k && !stands_before(k - 1)) continue;
        std::int64_t place = known < k ? known++ : k - 1;
        for (; place > 0 && stands_before(place - 1); --place) {
          best[place] = best[place - 1];
          from[place] = from[place - 1];
        }
        best[place] = x[i];
        from[place] = static_cast<I>(i);
      }
    }
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&top_k_info> {
  using type = rules::top_k;
};

namespace detail {
template <int K, int Result>
struct top_k_fn {
  constexpr var operator()(var x) const { return result_of(emit_several(top_k_info, vec<var>{x}, of_top_k(K)), Result); }
};
// The elements that were taken have the gradient, the others none.
constexpr void top_k_vjp(vjp_context& c) {
  int const last = c.in_info(0).dims.rank - 1;
  c.accumulate(0, emit(scatter_along_info, {cast(c.gradients[0], sum_type(c.gradients[0].type())), c.out(1)}, along(last, c.in_info(0).dims.last())));
}
}  // namespace detail

template <class Values, class Indices>
struct top_k_result {
  Values values;
  Indices indices;
};

template <int K, handle X>
  requires(K > 0)
constexpr auto top_k(X const& x) {
  auto values = lift<detail::top_k_fn<K, 0>>(x);
  auto indices = lift<detail::top_k_fn<K, 1>>(x);
  return top_k_result<decltype(values), decltype(indices)>{values, indices};
}

}  // namespace tx
