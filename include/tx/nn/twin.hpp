// twin<Tower, shared>: an encoder of queries and one of documents, with the same weights or their own. query(ids), document(ids): [batch, words] -> [batch,
// hidden], or what Tower gives. A shared tower is used twice: queries and documents keep their own lengths.
#pragma once

#include <tx/expr/tensor.hpp>

namespace tx::nn {

template <class Tower, bool Shared>
struct twin {
  Tower both;

  constexpr auto query(typed_handle auto const& ids) const { return both(ids); }
  constexpr auto document(typed_handle auto const& ids) const { return both(ids); }
};

template <class Tower>
struct twin<Tower, false> {
  Tower query;
  Tower document;
};

}  // namespace tx::nn
