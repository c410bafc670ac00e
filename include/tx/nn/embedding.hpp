// embedding<V, H>: a table of V rows of width H.
#pragma once

#include <tx/expr/param.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/take.hpp>

namespace tx::nn {

// Tables of words are a group of their own: few rows change in a step, so they bear a higher rate.
struct embedding_group {
  static constexpr float rate = 1.0f;
  static constexpr float decay = 0.01f;
};

template <int V, int H, class Group = decayed, class Init = init::normal<20, 1000>>
struct embedding {
  param<tensor<f32, V, H>, Init, Group> weight;

  // One row for each id. [...] -> [..., H]
  constexpr auto operator()(handle auto const& ids) const { return take(weight, ids); }
  // The sum of the rows of each bag; negative ids are empty places. [..., L] -> [..., H]
  constexpr auto bag(handle auto const& ids) const { return tx::embedding(weight, ids); }
  // The first N rows: positions 0 to N - 1. -> [N, H]
  template <int N>
  constexpr auto first() const {
    static_assert(N <= V, "tx::nn::embedding: the table has too few rows. FIX: more positions in the configuration");
    return slice<0, 0, N>(weight);
  }
};

}  // namespace tx::nn
