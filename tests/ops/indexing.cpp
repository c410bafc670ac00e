// Ops that take elements by number: values against plain loops, gradients against central differences.
#include "check_op.hpp"
#include "../interpreter/evaluator.hpp"

#include <tx/ops/embedding_bag.hpp>
#include <tx/ops/scatter_add.hpp>
#include <tx/ops/top_k.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/ops/update_at.hpp>

namespace {

using vars = std::vector<tx::var>;
using arrays = std::vector<array>;

knows_whole<&tx::gather_info> const gather_rule;
knows_whole<&tx::scatter_along_info> const scatter_rule;
knows_whole<&tx::argmax_info> const argmax_rule;
knows_whole<&tx::argmin_info> const argmin_rule;
knows_whole<&tx::top_k_info> const top_k_rule;
knows_whole<&tx::slice_at_info> const slice_at_rule;
knows_whole<&tx::update_at_info> const update_at_rule;

// The element at a position, where an axis of extent 1 does not repeat.
double& at_exactly(array& a, std::vector<int> const& at) {
  std::size_t e = 0;
  for (int i = 0; i < a.dims.rank; ++i)
    e = e * static_cast<std::size_t>(a.dims.dim[i]) + static_cast<std::size_t>(at[static_cast<std::size_t>(i)]);
  return a.v[e];
}
array gathered(array x, array const& ids, int axis) {
  return built(ids.dims, [&](std::vector<int> const& at) {
    int const id = static_cast<int>(element(ids, at));
    return id >= 0 && id < x.dims.dim[axis] ? at_exactly(x, moved_to(at, axis, id)) : 0.0;
  });
}
array scattered(array x, array const& ids, array const& by, int axis) {
  for (std::size_t e = 0; e < ids.v.size(); ++e) {
    int const id = static_cast<int>(ids.v[e]);
    if (id >= 0 && id < x.dims.dim[axis]) at_exactly(x, moved_to(position_of(ids.dims, e), axis, id)) += by.v[e];
  }
  return x;
}
// How many elements of the line come before element k of it: larger ones, and equal ones with a lower number.
int rank_in_line(array const& x, std::vector<int> const& at, int axis) {
  auto value = [&](int k) { return element(x, moved_to(at, axis, k)); };
  int const here = at[static_cast<std::size_t>(axis)];
  int before = 0;
  for (int k = 0; k < x.dims.dim[axis]; ++k) {
    bool const equal = value(k) == value(here) || (std::isnan(value(k)) && std::isnan(value(here)));
    bool const larger = std::isnan(value(k)) || value(k) > value(here);
    before += equal ? k < here : larger && !std::isnan(value(here));
  }
  return before;
}
array largest_places(array const& x, int axis, int count) {
  tx::shape dims = x.dims;
  dims.dim[axis] = count;
  return built(dims, [&](std::vector<int> const& at) {
    for (int k = 0; k < x.dims.dim[axis]; ++k)
      if (rank_in_line(x, moved_to(at, axis, k), axis) == at[static_cast<std::size_t>(axis)]) return k;
    return -1;
  });
}
array opposite(array x) {
  for (double& v : x.v) v = -v;
  return x;
}
array bag_of(tx::bag_mode mode, array const& table, array const& ids, array const* weights = nullptr) {
  tx::shape dims = ids.dims;
  int const bag = dims.last();
  dims.dim[dims.rank - 1] = table.dims.dim[1];
  return built(dims, [&](std::vector<int> at) {
    int const column = at.back();
    double sum = 0, count = 0, most = -INFINITY;
    for (int k = 0; k < bag; ++k) {
      at.back() = k;
      int const id = static_cast<int>(element(ids, at));
      if (id < 0) continue;
      double const x = element(table, {id, column});
      sum += x * (weights == nullptr ? 1 : element(*weights, at));
      most = std::max(most, x);
      ++count;
    }
    return mode == tx::bag_mode::sum ? sum : count == 0 ? 0 : mode == tx::bag_mode::mean ? sum / count : most;
  });
}

}  // namespace

TEST_CASE("gather and scatter_add along an axis") {
  number_source numbers(41);
  for (auto const& dims : std::vector<std::vector<int>>{{5}, {7, 4}, {2, 3, 5}, {1, 17, 1}, {3, 1, 2, 2}})
    for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis)
      for (int count : {1, 4, 9}) {
        tx::shape of_ids = make_dims(dims);
        of_ids.dim[axis] = count;
        int const extent = dims[static_cast<std::size_t>(axis)];
        array const x = numbers.spread(make_dims(dims), -2, 2);
        array const by = numbers.spread(of_ids, -2, 2);
        tx::dtype const type = count == 4 ? tx::dtype::i64 : tx::dtype::i32;
        array const ids = numbers.integers(of_ids, -1, extent + 1, type);  // those beyond the axis name nothing
        check_op(
            "gather", {x, ids}, [&](vars const& v) { return tx::gather(v[0], v[1], axis); },
            [&](arrays const& v) { return gathered(v[0], v[1], axis); });
        check_op(
            "scatter_add", {x, ids, by},
            [&](vars const& v) { return tx::scatter_add(v[0], v[1], v[2], axis - static_cast<int>(dims.size())); },
            [&](arrays const& v) { return scattered(v[0], v[1], v[2], axis); });
      }
  array const x = numbers.spread(make_dims({3, 4}), -1, 1);
  check_op(
      "gather from a view", {x, numbers.integers(make_dims({4, 2}), 0, 3)},
      [](vars const& v) { return tx::gather<1>(tx::transpose(v[0]), v[1]); },
      [](arrays const& v) {
        return built(v[1].dims, [&](std::vector<int> const& at) {
          return element(v[0], {static_cast<int>(element(v[1], at)), at[0]});
        });
      });
}

TEST_CASE("slice_at and update_at along an axis, from any start") {
  number_source numbers(47);
  for (auto const& dims : std::vector<std::vector<int>>{{5}, {7, 4}, {2, 3, 5}, {1, 17, 1}, {3, 1, 2, 2}})
    for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis)
      for (int count : {0, 1, 3, dims[static_cast<std::size_t>(axis)]}) {
        int const extent = dims[static_cast<std::size_t>(axis)];
        if (count > extent) continue;
        tx::shape of_part = make_dims(dims);
        of_part.dim[axis] = count;
        array const x = numbers.spread(make_dims(dims), -2, 2);
        array const part = numbers.spread(of_part, 3, 5);
        for (int first : {-1, 0, 1, extent - count, extent - count + 1, extent + 2}) {  // what is computed may be beyond
          array const start{make_dims({}), {static_cast<double>(first)}, count == 1 ? tx::dtype::i64 : tx::dtype::i32};
          check_op(
              "slice_at", {x, start}, [&](vars const& v) { return tx::slice_at(v[0], v[1], axis, count); },
              [&](arrays const& v) {
                return built(of_part, [&](std::vector<int> const& at) {
                  int const place = at[static_cast<std::size_t>(axis)] + first;
                  return place >= 0 && place < extent ? element(v[0], moved_to(at, axis, place)) : 0.0;
                });
              });
          check_op(
              "update_at", {x, part, start}, [&](vars const& v) { return tx::update_at(v[0], v[1], v[2], axis - static_cast<int>(dims.size())); },
              [&](arrays const& v) {
                return built(v[0].dims, [&](std::vector<int> const& at) {
                  int const k = at[static_cast<std::size_t>(axis)] - first;
                  return k >= 0 && k < count ? at_exactly(const_cast<array&>(v[1]), moved_to(at, axis, k)) : at_exactly(const_cast<array&>(v[0]), at);
                });
              });
        }
      }
}

TEST_CASE("no ids take nothing and add nothing") {
  number_source numbers(45);
  array const x = numbers.spread(make_dims({2, 5}), -1, 1);
  array const none{make_dims({2, 0}), {}, tx::dtype::i32};
  check_op(
      "gather", {x, none}, [](vars const& v) { return tx::gather<1>(v[0], v[1]); },
      [](arrays const& v) { return filled(v[1].dims); }, false);
  check_op(
      "scatter_add", {x, none, filled(none.dims)}, [](vars const& v) { return tx::scatter_add<1>(v[0], v[1], v[2]); },
      [](arrays const& v) { return v[0]; });
}

TEST_CASE("argmax and argmin: the first of equals, NaN before all") {
  number_source numbers(42);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  auto check = [](array const& x, int axis) {
    check_op(
        "argmax", {x}, [&](vars const& v) { return tx::emit(tx::argmax_info, {v[0]}, tx::attributes{{axis}}); },
        [&](arrays const& v) { return largest_places(v[0], axis, 1); }, false);
    check_op(
        "argmin", {x}, [&](vars const& v) { return tx::emit(tx::argmin_info, {v[0]}, tx::attributes{{axis}}); },
        [&](arrays const& v) { return largest_places(opposite(v[0]), axis, 1); }, false);
  };
  for (auto const& dims : std::vector<std::vector<int>>{{1}, {17}, {7, 5}, {2, 3, 4}, {5, 1, 7}})
    for (int axis = 0; axis < static_cast<int>(dims.size()); ++axis) {
      check(numbers.spread(make_dims(dims), -2, 2), axis);
      check(numbers.integers(make_dims(dims), 0, 3), axis);  // many ties
    }
  check({make_dims({2, 5}), {1, nan, 5, nan, INFINITY, -INFINITY, -INFINITY, 0, INFINITY, INFINITY}}, 1);
  check({make_dims({2, 2}), {nan, -INFINITY, 1, nan}}, 0);
  array const x = numbers.spread(make_dims({3, 4}), -1, 1);
  check_op(
      "argmax<-1>", {x}, [](vars const& v) { return tx::argmax<-1>(v[0]); },
      [](arrays const& v) { return largest_places(v[0], 1, 1); }, false);
  check_op(
      "argmin<-2>", {x}, [](vars const& v) { return tx::argmin<-2>(v[0]); },
      [](arrays const& v) { return largest_places(opposite(v[0]), 0, 1); }, false);
}

TEST_CASE("top_k: values in order, ties by place, gradients to what was taken") {
  number_source numbers(43);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  auto check = [&]<int K>(std::integral_constant<int, K>, array const& x, bool has_gradient) {
    int const axis = x.dims.rank - 1;
    check_op(
        "top_k indices", {x}, [](vars const& v) { return tx::top_k<K>(v[0]).indices; },
        [&](arrays const& v) { return largest_places(v[0], axis, K); }, false);
    if (has_gradient)
      check_op(
          "top_k values", {x}, [](vars const& v) { return tx::top_k<K>(v[0]).values; },
          [&](arrays const& v) { return gathered(v[0], largest_places(v[0], axis, K), axis); });
  };
  for (auto const& dims : std::vector<std::vector<int>>{{7}, {3, 17}, {2, 1, 7}}) {
    array const x = numbers.spread(make_dims(dims), -2, 2);
    check(std::integral_constant<int, 1>{}, x, true);
    check(std::integral_constant<int, 3>{}, x, true);
    check(std::integral_constant<int, 7>{}, x, true);
    check(std::integral_constant<int, 5>{}, numbers.integers(make_dims(dims), 0, 3), false);
  }
  check(std::integral_constant<int, 4>{},
        {make_dims({2, 5}), {1, nan, 5, nan, INFINITY, -INFINITY, -INFINITY, 0, -INFINITY, INFINITY}}, false);
}

TEST_CASE("embedding_bag: sums, means, largest, weighted sums") {
  number_source numbers(44);
  for (auto const& dims : std::vector<std::vector<int>>{{3}, {5, 1}, {4, 3}, {2, 2, 7}})
    for (int width : {1, 7}) {
      array const table = numbers.spread(make_dims({6, width}), -1, 1);
      array ids = numbers.integers(make_dims(dims), -3, 6);
      for (int k = 0; k < dims.back(); ++k) ids.v[static_cast<std::size_t>(k)] = -1;  // an empty bag
      array const weights = numbers.spread(make_dims(dims), -1, 2);
      check_op(
          "sum", {table, ids}, [](vars const& v) { return tx::embedding_bag(v[0], v[1]); },
          [](arrays const& v) { return bag_of(tx::bag_mode::sum, v[0], v[1]); });
      check_op(
          "mean", {table, ids}, [](vars const& v) { return tx::embedding_bag<tx::bag_mode::mean>(v[0], v[1]); },
          [](arrays const& v) { return bag_of(tx::bag_mode::mean, v[0], v[1]); });
      check_op(
          "max", {table, ids}, [](vars const& v) { return tx::embedding_bag<tx::bag_mode::max>(v[0], v[1]); },
          [](arrays const& v) { return bag_of(tx::bag_mode::max, v[0], v[1]); });
      check_op(
          "weighted", {table, ids, weights}, [](vars const& v) { return tx::embedding_bag(v[0], v[1], v[2]); },
          [](arrays const& v) { return bag_of(tx::bag_mode::sum, v[0], v[1], &v[2]); });
    }
}

TEST_CASE("indexing ops refuse what does not fit, with what to do about it") {
  using Catch::Contains;
  auto f = [](std::vector<int> const& dims) { return filled(make_dims(dims)); };
  auto i = [](std::vector<int> const& dims) { return array{make_dims(dims), {}, tx::dtype::i32}; };
  auto gather1 = [](vars const& v) { return tx::gather<1>(v[0], v[1]); };
  CHECK_THAT(refusal({f({2, 3}), f({2, 3})}, gather1), Contains("integer") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3}), i({3, 3})}, gather1), Contains("gather") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3}), i({2})}, gather1), Contains("gather") && Contains("FIX"));
  CHECK_THAT(refusal({f({2}), i({2})}, gather1), Contains("no such axis") && Contains("FIX"));
  auto scatter0 = [](vars const& v) { return tx::scatter_add<0>(v[0], v[1], v[2]); };
  CHECK_THAT(refusal({f({2, 3}), i({4, 3}), f({5, 3})}, scatter0),
             Contains("one value for each id") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3}), i({4, 2}), f({4, 2})}, scatter0), Contains("scatter_add") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3}), i({4, 3}), i({4, 3})}, scatter0), Contains("element types") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 0})}, [](vars const& v) { return tx::argmax<1>(v[0]); }),
             Contains("empty") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::argmin<2>(v[0]); }),
             Contains("no such axis") && Contains("FIX"));
  CHECK_THAT(refusal({f({2, 3})}, [](vars const& v) { return tx::top_k<4>(v[0]).values; }),
             Contains("top_k") && Contains("FIX"));
  CHECK_THAT(
      refusal({f({2, 3}), i({2, 2}), f({2, 3})}, [](vars const& v) { return tx::embedding_bag(v[0], v[1], v[2]); }),
      Contains("one weight") && Contains("FIX"));
}
