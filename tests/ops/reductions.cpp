// Sums, means and extremes over any axes: values against plain loops, gradients against central differences.
#include "../interpreter/passes.hpp"
#include "check_op.hpp"

#include <tx/ops/max.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/min.hpp>
#include <tx/ops/sum.hpp>

namespace {

using vars = std::vector<tx::var>;
using arrays = std::vector<array>;

// Every set of axes, some named from the end.
std::vector<std::vector<int>> axis_sets(int rank) {
  std::vector<std::vector<int>> sets;
  for (int bits = 1; bits < 1 << rank; ++bits) {
    std::vector<int> axes;
    for (int i = 0; i < rank; ++i)
      if ((bits >> i & 1) != 0) axes.push_back(bits % 2 == 0 ? i - rank : i);
    sets.push_back(axes);
  }
  return sets;
}

}  // namespace

TEST_CASE("sums over any axes") {
  number_source numbers(11);
  for (int rank : {1, 1, 2, 2, 3, 3, 4}) {
    array const x = numbers.spread(numbers.dims(rank), -2, 2);
    for (auto const& axes : axis_sets(rank))
      check_op("sum", {x}, [&](vars const& v) { return tx::sum(v[0], axes.data(), static_cast<int>(axes.size())); },
               [&](arrays const& v) { return summed(v[0], axes); });
    check_op("sum of all", {x}, [](vars const& v) { return tx::sum(v[0]); }, [](arrays const& v) { return as_scalar(summed(v[0], axes_of(v[0].dims))); });
  }
}

TEST_CASE("rows of a transposed matrix are summed as columns, as they lie") {
  number_source numbers(14);
  array const x = numbers.spread(make_dims({5, 7}), -2, 2);
  check_op("sum of transposed", {x}, [](vars const& v) { return tx::sum<-1>(tx::transpose(v[0])); },
           [](arrays const& v) {
             array columns = summed(v[0], {0});
             columns.dims = make_dims({7, 1});
             return columns;
           });
  auto const has = [](tx::shape const& dims, tx::op_info const& wanted) {
    tx::graph g;
    tx::var const leaf = tx::emit_leaf(g, tx::input_info, {tx::dtype::f64, dims}, tx::of_input(0));
    g.outputs.push_back({tx::sum<-1>(tx::transpose(leaf)).id});
    g = at_run_time::simplified(g);
    int found = 0;
    for (int i = 0; i < g.size(); ++i) found += g[i].op == &wanted;
    return found;
  };
  CHECK(has(tx::shape{2, {}, {5, 7}}, tx::transpose_info) == 0);
  CHECK(has(tx::shape{2, {}, {5, 7}}, tx::col_sum_info) == 1);
  CHECK(has(tx::shape{3, {}, {2, 5, 7}}, tx::row_sum_info) == 1);  // several matrices have rows alone
}

TEST_CASE("means") {
  number_source numbers(12);
  array const x = numbers.spread(make_dims({2, 3, 1, 7}), -2, 2);
  auto mean_over = [&](std::vector<int> axes, auto op) {
    double n = 1;
    for (int a : axes) n *= x.dims[a];
    check_op("mean", {x}, [&](vars const& v) { return op(v[0]); },
             [&](arrays const& v) { return each([&](double s) { return s / n; }, summed(v[0], axes)); });
  };
  mean_over({0}, [](tx::var v) { return tx::mean<0>(v); });
  mean_over({-1}, [](tx::var v) { return tx::mean<-1>(v); });
  mean_over({2}, [](tx::var v) { return tx::mean<2>(v); });
  mean_over({1, -1}, [](tx::var v) { return tx::mean<1, -1>(v); });
  mean_over({0, 2}, [](tx::var v) { return tx::mean<0, 2>(v); });
  check_op("mean of all", {x}, [](vars const& v) { return tx::mean(v[0]); },
           [](arrays const& v) { return as_scalar(each([](double s) { return s / 42; }, summed(v[0], {0, 1, 2, 3}))); });
}

TEST_CASE("maxima over any axes") {
  number_source numbers(13);
  for (int rank : {1, 2, 2, 3, 3, 4}) {
    array const x = numbers.spread(numbers.dims(rank), -2, 2);
    for (auto const& axes : axis_sets(rank))
      check_op("max", {x},
               [&](vars const& v) { return tx::detail::reduce_axes(v[0], axes.data(), static_cast<int>(axes.size()), tx::row_max_info, nullptr); },
               [&](arrays const& v) { return largest(v[0], axes); });
    check_op("max of all", {x}, [](vars const& v) { return tx::max(v[0]); }, [](arrays const& v) { return as_scalar(largest(v[0], axes_of(v[0].dims))); });
  }
  array const x = numbers.spread(make_dims({2, 3, 5}), -2, 2);
  check_op("max<1>", {x}, [](vars const& v) { return tx::max<1>(v[0]); }, [](arrays const& v) { return largest(v[0], {1}); });
  // Ties share the gradient.
  array const tied{make_dims({2, 3}), {1, 4, 4, 2, 2, 2}};
  built_op op({tied}, [](vars const& v) { return tx::max<-1>(v[0]); });
  op.g.outputs.push_back({op.differentiate(filled(make_dims({2, 1}), 1))[0]});
  auto const gradient = run_graph(op.g, {tied, filled(make_dims({2, 1}), 1)}, true)[0];
  CHECK(distance(gradient, {0, 0.5, 0.5, 1 / 3.0, 1 / 3.0, 1 / 3.0}) < 1e-15);
}

TEST_CASE("minima over any axes") {
  number_source numbers(23);
  auto const smallest = [](array const& a, std::vector<int> const& axes) {
    return folded(a, axes, INFINITY, [](double x, double y) { return std::min(x, y); });
  };
  for (int rank : {1, 2, 3, 4}) {
    array const x = numbers.spread(numbers.dims(rank), -2, 2);
    for (auto const& axes : axis_sets(rank))
      check_op("min", {x},
               [&](vars const& v) { return tx::detail::reduce_axes(v[0], axes.data(), static_cast<int>(axes.size()), tx::row_min_info, nullptr); },
               [&](arrays const& v) { return smallest(v[0], axes); });
    check_op("min of all", {x}, [](vars const& v) { return tx::min(v[0]); },
             [&](arrays const& v) { return as_scalar(smallest(v[0], axes_of(v[0].dims))); });
  }
  array const x = numbers.spread(make_dims({2, 3, 5}), -2, 2);
  check_op("min<0, -1>", {x}, [](vars const& v) { return tx::min<0, -1>(v[0]); }, [&](arrays const& v) { return smallest(v[0], {0, 2}); });
  array const tied{make_dims({2, 3}), {4, 1, 1, 2, 2, 2}};
  built_op op({tied}, [](vars const& v) { return tx::min<-1>(v[0]); });
  op.g.outputs.push_back({op.differentiate(filled(make_dims({2, 1}), 1))[0]});
  auto const gradient = run_graph(op.g, {tied, filled(make_dims({2, 1}), 1)}, true)[0];
  CHECK(distance(gradient, {0, 0.5, 0.5, 1 / 3.0, 1 / 3.0, 1 / 3.0}) < 1e-15);
}
