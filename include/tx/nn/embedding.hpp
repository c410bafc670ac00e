// embedding<V, H>: a table of V rows of width H. ids [...] -> [..., H]; bags of ids [..., L] -> [..., H].
#pragma once

#include <tx/expr/param.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/take.hpp>

namespace tx::nn {

// A group for tables of words, whose rate can be set apart: few rows change in a step, so they bear a higher one.
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
    return rows<0, N>();
  }
  // Those of the places along an axis of `like`, which may be bounded; the first place has the row `First`. -> [its extent, H]
  template <int Axis, int First = 0, typed_handle X>
  constexpr auto of_places(X const& like) const {
    constexpr bounded extent = X::dims.at(Axis);
    if constexpr (!extent.of) {
      return rows<First, extent.max>();
    } else {
      static_assert(First + extent.max <= V, "tx::nn::embedding: the table has too few rows. FIX: more positions in the configuration");
      constexpr value_info places{dtype::i32, extents(extent)};
      tensor_of<places> const at{like.g, iota(*like.g, places.dims, 0).id};
      if constexpr (First == 0) return take(weight, at);
      else return take(weight, at + First);
    }
  }

 private:
  template <int First, int N>
  constexpr auto rows() const {
    static_assert(First + N <= V, "tx::nn::embedding: the table has too few rows. FIX: more positions in the configuration");
    return slice<0, First, N>(weight);
  }
};

}  // namespace tx::nn
