// How values are stored: in the order of their first reader where that is dense, but never so that a row lies
// scattered.
#include <tx/ops/exp.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/passes/storage_order.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace {

struct stored {
  tx::strided order;
  tx::shape dims;
};
// How a value is stored that is read transposed.
stored order_of(std::vector<int> const& extents, std::vector<int> const& axes) {
  tx::graph g{};
  tx::value_info x{tx::dtype::f32, {}};
  tx::attributes at{};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    x.dims.dim[x.dims.rank++] = extents[i];
    at.v[i] = axes[i];
  }
  tx::var const value = tx::exp(tx::emit_leaf(g, tx::input_info, x));
  g.outputs.push_back({tx::exp(tx::transpose(value, at)).id});
  return {tx::passes::storage_order(g)[value.id], x.dims};
}

}  // namespace

TEST_CASE("heads of attention are stored as they are read") {
  stored const heads = order_of({2, 3, 5, 4}, {0, 2, 1, 3});
  CHECK(most_of(heads.order.stride[0]) == 60);
  CHECK(most_of(heads.order.stride[1]) == 4);
  CHECK(most_of(heads.order.stride[2]) == 12);
  CHECK(most_of(heads.order.stride[3]) == 1);
}

TEST_CASE("neighbours in a row are neighbours in memory, also beside axes of extent 1") {
  for (std::vector<int> const& extents :
       std::vector<std::vector<int>>{{6, 1, 4}, {4, 6, 1}, {1, 3, 1, 5}, {2, 3, 4}, {3, 1, 1, 2}}) {
    std::vector<int> axes(extents.size());
    std::iota(axes.begin(), axes.end(), 0);
    do {
      stored const s = order_of(extents, axes);
      int const last = s.dims.rank - 1;
      CHECK((s.dims.last() == 1 || most_of(s.order.stride[last]) == 1));
      std::int64_t furthest = 0;  // all elements within the block they have
      for (int i = 0; i <= last; ++i) furthest += (s.dims.dim[i] - 1) * most_of(s.order.stride[i]);
      CHECK(furthest + 1 == s.dims.count());
    } while (std::next_permutation(axes.begin(), axes.end()));
  }
}
