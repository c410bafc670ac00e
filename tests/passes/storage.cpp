// Where values lie: each read of each kernel finds what the graph says, in programs that once did not, and the verifier that tells so
// sees a program that was tampered with.
#include "../drawn/words.hpp"
#include "verify_storage.hpp"

#include <tx/expr/repeat.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/max.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/scatter_add.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>
#include <tx/step/function.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

struct two_results {
  tensor<f32, 9, 4, 1> plain;
  tensor<f32, 4, 9, 1> turned;
};
constexpr auto last_axis_of_one = [](tensor<f32, 9, 4, 1> x) {
  auto const z = tanh(x);
  return two_results{z * 2, transpose<1, 0, 2>(z) + 1};
};

struct sums_of_invariant {
  constexpr auto operator()(auto const& x, auto const& s) const { return x + cumsum<-1>(s); }
};
struct with_invariant {
  repeat<2, sums_of_invariant> blocks;
};
constexpr auto view_as_invariant = [](with_invariant const& m, tensor<f32, 3, 5> x, tensor<f32, 5, 3> s) { return m.blocks(x, transpose(s)); };

struct both_orders {
  param<tensor<f32, 4, 2, 3>> a;
  param<tensor<f32, 2, 4, 3>> b;
  constexpr auto operator()(auto const& x) const { return tanh(x + a + transpose<1, 0, 2>(b)); }
};
struct repeated_orders {
  repeat<2, both_orders> block;
};
constexpr auto stacked_in_both_orders = [](repeated_orders const& m, tensor<f32, 4, 2, 3> x) { return sum(m.block(x) * x); };

using scores = tensor<f32, 3, 3, 4, 2>;
constexpr auto mirrored = [](scores q, scores k, scores v) {
  auto const s = matmul(q, transpose(k));
  return matmul(exp(s - transpose<1, 0, 2, 3>(max<-1>(s))), v);
};
constexpr compile_options small_bands{.band_bytes = 64};

constexpr shape square{2, {}, {4, 4}};

// state <- state + x, and that times a sum over the row of x: the sum takes a pass of its own over the row's columns.
graph updated_beside_a_row_sum() {
  graph g{};
  var const state = emit_leaf(g, block_info, {dtype::f32, square}, attributes{{0, 0}});
  var const x = emit_leaf(g, input_info, {dtype::f32, square}, attributes{{0}});
  var const s = sum<-1>(x);
  var const next = state + x;
  g.outputs.push_back({(next * broadcast_to(s, square)).id, output_kind::result, -1});
  g.outputs.push_back({next.id, output_kind::assign, state.id});
  return g;
}

// A number seen as [1, rows], with as many rows as there are: a body is handed it as a side of a product.
graph bounded_number_in_a_body(int rank) {
  graph g{};
  drawn::row_count const rows{4, -1};
  var const x = drawn::input(g, 0, dtype::f64, drawn::dims(rows, 2, {-1, 3}));
  shape const wide = rank == 2 ? drawn::dims(rows, 2, {1, -1}) : drawn::dims(rows, 3, {2, 1, -1});
  var const ones = broadcast_to(constant(g, dtype::f64, 2), wide);
  drawn::repeated body(g, 2, false);
  var const left = rank == 2 ? body.same(ones) : body.slices(ones), right = body.same(x);
  body.enter();
  var const product = matmul(left, right);
  body.leave();
  body.stack(product);
  body.close();
  g.outputs.push_back({body.result(0).id, output_kind::result, -1});
  return g;
}

graph transposed_beside() {
  graph g{};
  var const x = emit_leaf(g, input_info, {dtype::f32, square}, attributes{{0}});
  var const y = tanh(matmul(x, transpose(x)));
  g.outputs.push_back({(y * sum<-1>(transpose(y))).id, output_kind::result, -1});
  return g;
}

// A loop over the blocks w of a leaf replaces each by the transposition of `change`(w), whose first two axes are of one extent: made in the order in which it is wanted, not in w's.
template <class Change>
graph blocks_turned(Change const& change) {
  using namespace drawn;
  graph g{};
  row_count const rows{0, -1};
  var const all = weights(g, 0, 0, dtype::f64, dims(rows, 4, {3, 4, 4, 2}));
  var const i = input(g, 0, dtype::i32, dims(rows, 3, {4, 4, 1}), 2), x = input(g, 1, dtype::f64, dims(rows, 3, {4, 4, 1}));
  repeated body(g, 3, false);
  var const w = body.slices(all), indices = body.same(i), values = body.same(x);
  body.enter();
  var const turned = transpose(change(w, indices, values), attributes{{1, 0, 2}});
  body.leave();
  body.stack(turned);
  body.close();
  g.outputs.push_back({body.result(0).id, output_kind::assign, all.id});
  return g;
}

}  // namespace

TEST_CASE("every read finds its element") {
  CHECK_NOTHROW(verify_program<function<last_axis_of_one>::source>());
  CHECK_NOTHROW(verify_program<function<view_as_invariant, with_invariant>::source>());
  CHECK_NOTHROW(verify_program<value_and_grad<stacked_in_both_orders, repeated_orders>::source>());
  CHECK_NOTHROW(verify_program<function<mirrored, no_model, compiled_with<small_bands>>::source>());
}

TEST_CASE("a leaf is not overwritten in an earlier pass over its row than it is read in") {
  exec::inspection seen{};
  exec::lowered const l = exec::compile(updated_beside_a_row_sum(), cpu_target, {}, &seen);
  CHECK_NOTHROW(storage_verifier(l, seen).run());
  CHECK(l.calls.size() == 2);
}

TEST_CASE("what a loop makes of a leaf's blocks in another order is not stored over them") {
  CHECK_NOTHROW(verified(blocks_turned([](var w, var i, var x) { return scatter_add(w, i, x, 2); })));
  CHECK_NOTHROW(verified(blocks_turned([](var w, var, var) { return tanh(w); })));
}

TEST_CASE("a bounded number that a body is handed may be a side of a product") {
  for (int rank : {2, 3}) CHECK_NOTHROW(verified(bounded_number_in_a_body(rank)));
}

TEST_CASE("a program that was tampered with is found out") {
  exec::inspection seen{};
  exec::lowered const l = exec::compile(transposed_beside(), cpu_target, {}, &seen);
  CHECK_NOTHROW(storage_verifier(l, seen).run());
  int found = 0, tried = 0;
  for (int k = 0; k < l.operands.size(); ++k) {
    auto const changed = [&](auto const& change) {
      exec::lowered other = l;
      change(other.operands[k]);
      ++tried;
      try {
        storage_verifier(other, seen).run();
      } catch (std::runtime_error const&) {
        ++found;
      }
    };
    exec::operand_ref const& r = l.operands[k];
    if (r.base < 0) continue;
    changed([](exec::operand_ref& o) { o.offset += 4; });
    if (r.rank > 0) changed([](exec::operand_ref& o) { o.stride[o.rank - 1] += 1; });
  }
  CHECK(tried >= 8);
  CHECK(found == tried);
}
