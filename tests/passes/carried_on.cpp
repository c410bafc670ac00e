// A carry that a loop hands on through loops in its body lies in one buffer, and whoever reads what it was does so before.
#include "verify_storage.hpp"

#include <tx/expr/body_recorder.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/ops/transpose.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

// What an outer loop's body does with its carry s beside two loops that go on from it, one after the other.
struct reading {
  bool early = false, product = false, view = false;  // of s, before the loops: element by element, as a side of a product, transposed
  bool late = false;                                  // of s, behind them
  bool between = false;                               // of what the first loop makes of it, behind the second
  bool twice = false;                                 // both loops go on from s
  bool blind = false;                                 // the second one does not read what it goes on from, but something large that would better be gone before the first
  bool other = false;                                 // what is made of it becomes another carry
};

graph loops_in_a_loop(reading const& r) {
  graph g{};
  shape const square = extents(4, 4);
  var const x = emit_leaf(g, input_info, {dtype::f32, square}, of_input(0));
  var const half = x * 0.5;
  detail::body_recorder outer(g, 3, false);
  var const s{&g, outer.carry(x.id)}, t{&g, outer.carry(half.id)};
  var seen = t;
  if (r.early) seen = seen + s * 2;
  if (r.product) seen = seen + matmul(s, t);
  if (r.view) seen = seen + transpose(s);
  var const large = tanh(broadcast_to(reshape(t, extents(4, 4, 1)), extents(4, 4, 32)));
  auto const loop = [&](var from, double by, bool blind) {
    detail::body_recorder inner(g, 2, false);
    var const c{&g, inner.carry(from.id)};
    vec<int> next{};
    var const made = matmul(tanh(matmul(t, t)), blind ? reshape(sum<-1>(large), square) : c);
    next.push_back((made * by + t * 0.1).id);
    inner.close(next, {});
    return var{&g, inner.last(0)};
  };
  var const first = loop(s, 0.7, false), second = loop(r.twice ? s : first, 0.9, r.blind);
  seen = seen + second * 0.3;
  if (r.late) seen = seen + s * 0.2;
  if (r.between) seen = seen + first * 0.4;
  vec<int> next{};
  next.push_back(r.other ? seen.id : second.id);
  next.push_back(r.other ? second.id : seen.id);
  outer.close(next, {});
  g.outputs.push_back({outer.last(0), output_kind::result, -1});
  g.outputs.push_back({outer.last(1), output_kind::result, -1});
  return g;
}

// Arguments of inner loops that have the buffer of the outer one's.
int continued(reading const& r) {
  exec::inspection seen{};
  exec::lowered const l = exec::compile(loops_in_a_loop(r), cpu_target, {}, &seen);
  storage_verifier(l, seen).run();
  int count = 0;
  graph const& g = seen.nodes;
  for (int body = 1; body < g.regions.size(); ++body)
    if (g.regions[body].owner >= 0 && g.loops_around(body) == 2) count += seen.fused.where.of[g.regions[body].arguments[0]].base != g.regions[body].arguments[0];
  return count;
}

}  // namespace

TEST_CASE("loops that go on from a carry of the loop around them have its buffer, where nobody reads what it was behind them") {
  CHECK(continued({}) == 2);
  CHECK(continued({.early = true}) == 2);
  CHECK(continued({.product = true}) == 2);
  CHECK(continued({.early = true, .product = true}) == 2);
  CHECK(continued({.view = true}) == 0);
  CHECK(continued({.late = true}) == 0);
  CHECK(continued({.between = true}) == 0);
  CHECK(continued({.between = true, .twice = true}) == 1);  // the second, which is the last to read it
  CHECK(continued({.blind = true}) == 2);
  CHECK(continued({.other = true}) == 0);
}

TEST_CASE("whatever reads a carry beside such loops finds what the graph says, however the program is planned") {
  for (unsigned bits = 0; bits < 256; ++bits) {
    auto const bit = [&](unsigned k) { return (bits >> k & 1) != 0; };
    reading const r{bit(0), bit(1), bit(2), bit(3), bit(4), bit(5), bit(6), bit(7)};
    CAPTURE(bits);
    for (compile_options const& how : {compile_options{}, compile_options{.fuse = false}, compile_options{.reorder = false}, compile_options{.band_bytes = 16}}) CHECK_NOTHROW(verified(loops_in_a_loop(r), how));
  }
}
