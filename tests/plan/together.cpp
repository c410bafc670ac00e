// Which calls start together: those that share nothing, however their memory lies.
#include <tx/backends/cuda/target.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/plan/compile.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

shape of(std::initializer_list<int> extents) {
  shape s{};
  for (int e : extents) s.dim[s.rank++] = e;
  return s;
}
var leaf(graph& g, int number, std::initializer_list<int> extents, dtype type = dtype::f32) { return emit_leaf(g, input_info, {type, of(extents)}, of_input(number)); }
void result(var v) { v.g->outputs.push_back({v.id, output_kind::result, -1}); }

// Nothing has scratch, so that where values lie alone decides.
constexpr target any_together = [] {
  target t = cuda_target;
  t.row_scratch = [](exec::row_buffers const&, exec::call const&) -> std::int64_t { return 0; };
  t.starts_together = [](exec::kernel_sig const&, exec::row_buffers const&, exec::call const&) { return 8; };
  return t;
}();
// How many start with each call that starts any, in order.
std::vector<int> sets(graph const& g) {
  exec::lowered const l = exec::plan(exec::optimise(g, any_together), any_together, {});
  std::vector<int> all;
  for (exec::instruction const& s : l.instructions)
    if (s.together > 0) all.push_back(s.together);
  return all;
}

}  // namespace

TEST_CASE("calls of one kernel that share nothing start together, also past others") {
  graph g{};
  var const a = leaf(g, 0, {4, 16}), b = leaf(g, 1, {8, 16}), c = leaf(g, 2, {2, 16}), d = leaf(g, 3, {8, 16});
  result(tanh(a));
  result(sum_all(d));
  result(tanh(b));
  result(tanh(c));
  CHECK(sets(g) == std::vector<int>{3, 1});
}

TEST_CASE("what reads a result does not start with who makes it") {
  graph g{};
  var const a = leaf(g, 0, {4, 16}), wide = leaf(g, 1, {4, 32});
  var const once = cast(tanh(a), dtype::bf16);
  result(once);
  result(cast(tanh(cast(reshape(once, of({2, 32})), dtype::f32)), dtype::bf16));  // a kernel of other rows
  result(cast(tanh(wide), dtype::bf16));
  for (int n : sets(g)) CHECK(n <= 2);
}

TEST_CASE("a part of a sum over rows is not there before all of it is") {
  graph g{};
  auto const strips = [](var x) { return reshape(slice(x, 1, 4, 4, 1), of({16})); };  // a copy, as they do not lie side by side
  var const early = strips(leaf(g, 0, {4, 12}));
  int const axes[] = {0};
  var const terms = leaf(g, 1, {5, 4, 12}) * broadcast_to(sum_all(early), of({5, 4, 12}));
  var const late = strips(reshape(sum(terms, axes, 1), of({4, 12})));
  result(late * early);
  result(sum_all(late));
  result(sum_all(early));
  result(terms);
  for (int n : sets(g)) CHECK(n == 1);
}

TEST_CASE("columns of one matrix are written together") {
  graph g{};
  vec<var> parts{};
  for (int k = 0; k < 3; ++k) parts.push_back(tanh(leaf(g, k, {6, 16})));
  result(join(parts, 1));
  CHECK(sets(g) == std::vector<int>{3});
}
