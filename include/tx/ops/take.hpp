// take(x, ids): one row of x for each id, along the first axis. [V, D], [...] -> [..., D]. A negative id takes zeros.
#pragma once

#include <tx/ops/embedding.hpp>
#include <tx/ops/reshape.hpp>

namespace tx {

namespace detail {
struct take_fn {
  constexpr var operator()(var x, var ids) const {
    shape one_each = ids.dims();
    if (one_each.rank == max_rank) throw invalid("take: ids have as many axes as a tensor may have. FIX: merge some with reshape");
    one_each.dim[one_each.rank++] = 1;
    return embedding(x, reshape(ids, one_each));  // bags of one
  }
};
}  // namespace detail

template <handle X, handle Ids>
constexpr auto take(X const& x, Ids const& ids) {
  return lift<detail::take_fn>(x, ids);
}

}  // namespace tx
