// embedding<V, H>: a table of V rows of width H.
#pragma once

#include <tx/expr/param.hpp>
#include <tx/ops/iota.hpp>
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
  // Those of the places along an axis of `like`, which may be bounded. -> [its extent, H]
  template <int Axis, typed_handle X>
  constexpr auto of_places(X const& like) const {
    constexpr bounded extent = X::dims.at(Axis);
    if constexpr (!extent.of) {
      return first<extent.max>();
    } else {
      static_assert(extent.max <= V, "tx::nn::embedding: the table has too few rows. FIX: more positions in the configuration");
      constexpr value_info places{dtype::i32, extents(extent)};
      return take(weight, tensor_of<places>{like.g, iota(*like.g, places.dims, 0).id});
    }
  }
};

}  // namespace tx::nn
