// Products of halves, and biases that are added to them before the sums are rounded.
#include "../interpreter/evaluator.hpp"
#include "stacked.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/passes/mixed.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/sgd.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

using rows = tensor<float, 3, 4>;
using weight = tensor<float, 4, 2>;
using bias = tensor<float, 2>;

template <auto F>
graph mixed_graph() {
  graph g;
  function<F>::record(g);
  return at_run_time::simplified(passes::mixed(g, dtype::bf16));
}

// Sums of a product and of what is widened from halves.
int biased_products(graph const& g) {
  int count = 0;
  for (int i = 0; i < g.size(); ++i)
    count += g[i].op == &add_info && g[g.input(i, 0)].op->kind == op_kind::product && g[g.input(i, 1)].op == &cast_info && is_half(g.info(g.input(g.input(i, 1), 0)).type);
  return count;
}

}  // namespace

TEST_CASE("a sum with a bias is rounded once", "[mixed]") {
  constexpr auto f = [](rows x, weight w, bias b) { return matmul(x, w) + b; };
  graph const g = mixed_graph<f>();
  CHECK(biased_products(g) == 1);
  // 1 + 1/256 lies between two halves, the lower of which it is rounded to; 1/512 more, and it is the upper one.
  evaluator const all(g, [](node const& leaf) { return values(static_cast<std::size_t>(leaf.info.count()), leaf.info.dims.rank == 1 ? 0x1p-9 : leaf.info.dims.dim[0] == 3 ? 0.25 : 1 + 0x1p-8); },
                      {.every_leaf = true, .rounded = true});
  for (double y : all[g.outputs[0].value]) CHECK(y == 1.0);  // the weight is rounded first
  evaluator const exact(g, [](node const& leaf) {
    values v(static_cast<std::size_t>(leaf.info.count()), leaf.info.dims.rank == 1 ? 0x1p-9 : 1.0);
    if (leaf.info.dims.dim[0] == 3)
      for (std::size_t i = 0; i < v.size(); ++i) v[i] = i % 4 == 0 ? 1 : i % 4 == 1 ? 0x1p-8 : 0;
    return v;
  }, {.every_leaf = true, .rounded = true});
  for (double y : exact[g.outputs[0].value]) CHECK(y == 1 + 0x1p-7);
}

TEST_CASE("a function multiplies halves where it is told to", "[mixed]") {
  static constexpr auto f = [](rows x, weight w, bias b) { return matmul(x, w) + b; };
  // 1 + 1/256 is rounded to 1, and so is the sum of four quarters of it with a bias of 1/512.
  std::vector<float> const x(12, 0.25f), w(8, 1 + 0x1p-8f), b(2, 0x1p-9f);
  executor<function<f>, cpu> exact;
  executor<function<f, no_model, mixed<bf16>>, cpu> halves;
  for (float const y : exact(x, w, b).value) CHECK(y == 1 + 0x1p-8f + 0x1p-9f);
  for (float const y : halves(x, w, b).value) CHECK(y == 1.0f);
}

TEST_CASE("in other extents too, and on either side", "[mixed]") {
  constexpr auto reshaped = [](tensor<float, 2, 3, 4> x, weight w, bias b) { return b + matmul(x, w); };
  CHECK(biased_products(mixed_graph<reshaped>()) == 1);
}

TEST_CASE("what is no bias, or of a product that others read, is added to what has been rounded", "[mixed]") {
  constexpr auto value = [](rows x, weight w, tensor<float, 3, 2> y) { return matmul(x, w) + y; };
  CHECK(biased_products(mixed_graph<value>()) == 0);
  constexpr auto column = [](rows x, weight w, tensor<float, 3, 1> y) { return matmul(x, w) + y; };
  CHECK(biased_products(mixed_graph<column>()) == 0);
  constexpr auto twice = [](rows x, weight w, bias b) {
    auto const p = matmul(x, w);
    return (p + b) * p;
  };
  CHECK(biased_products(mixed_graph<twice>()) == 0);
  constexpr auto computed = [](rows x, weight w, bias b) { return matmul(x, w) + tanh(b); };
  CHECK(biased_products(mixed_graph<computed>()) == 0);
}

TEST_CASE("a column that is repeated and a row in another order are no biases, though a row has as many elements", "[mixed]") {
  using square_rows = tensor<float, 3, 4>;
  constexpr auto column = [](square_rows x, tensor<float, 4, 3> w, tensor<float, 3> b) { return matmul(x, w) + reshape<3, 1>(b); };
  CHECK(biased_products(mixed_graph<column>()) == 0);
  constexpr auto other_order = [](square_rows x, tensor<float, 4, 6> w, tensor<float, 6> b) {
    return matmul(x, w) + reshape<6>(transpose<1, 0>(reshape<2, 3>(b)));
  };
  CHECK(biased_products(mixed_graph<other_order>()) == 0);
  std::vector<float> const x(12, 0.0f), w(12, 0.0f), b{1, 2, 3};
  executor<function<column, no_model, mixed<bf16>>, cpu> run;
  auto const r = run(x, w, b);
  CHECK(std::vector<float>(r.value.begin(), r.value.end()) == std::vector<float>{1, 1, 1, 2, 2, 2, 3, 3, 3});
}

TEST_CASE("a loop keeps the rounded sum for its backward pass", "[mixed]") {
  graph const g = stacked::recorded<stacked::net, sgd, mixed<bf16>>();
  int kept = 0, again = 0;
  for (region const& r : g.regions)
    for (int value : r.results)
      kept += g[value].op == &cast_info && is_half(g.info(value).type) && g[g.input(value, 0)].op == &add_info && g[g.input(g.input(value, 0), 0)].op->kind == op_kind::product;
  CHECK(kept == 1);
  for (int i = 0; i < g.size(); ++i) again += g[i].op == &tanh_info;
  CHECK(again == 2);           // tanh of it is computed again
  CHECK(biased_products(g) == 1);  // the sum is not
}
