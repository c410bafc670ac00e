// What a pass must not leave behind: each kind of damage to a sound graph is found, by its message.
#include <tx/expr/repeat.hpp>
#include <tx/expr/trace.hpp>
#include <tx/graph/verify.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/tanh.hpp>

#include <catch2/catch.hpp>

#include <string>

namespace {
using namespace tx;

struct block {
  param<tensor<f32, 3>> w;
  constexpr auto operator()(auto const& x, auto const& y) const { return tanh(x * w + y); }
};
struct net {
  repeat<2, block> layer;
};
constexpr auto f = [](net const& m, tensor<f32, 4, 3> x, tensor<f32, 4, 3> y) { return m.layer(x, y) + x; };

graph sound() {
  graph g{};
  trace<net, f>(g);
  return g;
}
std::string found(graph const& g) {
  try {
    verify(g);
  } catch (invalid const& e) {
    return e.what();
  }
  return "nothing";
}
int first_of(graph const& g, op_info const& op) {
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == &op) return i;
  return -1;
}
}  // namespace

TEST_CASE("a sound graph passes") { CHECK(found(sound()) == "nothing"); }

TEST_CASE("damage to a node is found") {
  auto const damaged = [](auto&& by) {
    graph g = sound();
    by(g, g.nodes[first_of(g, tanh_info)]);
    return found(g);
  };
  CHECK_THAT(damaged([](graph&, node& n) { n.op = nullptr; }), Catch::Contains("has no op"));
  CHECK_THAT(damaged([](graph&, node& n) { n.inputs = 0; }), Catch::Contains("another number of inputs"));
  CHECK_THAT(damaged([](graph&, node& n) { n.region = 7; }), Catch::Contains("is in no region"));
  CHECK_THAT(damaged([](graph& g, node& n) { g.operands[n.first] = g.size() - 1; }), Catch::Contains("does not come before its reader"));
  CHECK_THAT(damaged([](graph& g, node& n) { g.operands[n.first] = -1; }), Catch::Contains("does not come before its reader"));
  CHECK_THAT(damaged([](graph& g, node& n) { g.operands[n.first] = first_of(g, input_info); }), Catch::Contains("another region"));
  CHECK_THAT(damaged([](graph&, node& n) { n.info.dims.dim[0] = 5; }), Catch::Contains("shape rule"));
  CHECK_THAT(damaged([](graph&, node& n) { n.info.type = dtype::f64; }), Catch::Contains("shape rule"));
}

TEST_CASE("damage to a region is found") {
  auto const damaged = [](auto&& by) {
    graph g = sound();
    REQUIRE(g.regions.size() == 2);
    by(g, g.regions[1]);
    return found(g);
  };
  CHECK_THAT(damaged([](graph& g, region& r) { g.nodes[r.owner].at.v[0] = 0; }), Catch::Contains("is not its own"));
  CHECK_THAT(damaged([](graph& g, region&) { g.nodes[first_of(g, result_info)].info.type = dtype::f64; }), Catch::Contains("another type than what its body hands out"));
  CHECK_THAT(damaged([](graph&, region& r) { ++r.invariants; }), Catch::Contains("disagree in length"));
  CHECK_THAT(damaged([](graph& g, region& r) { g.nodes[r.arguments[1]].at.v[0] = 0; }), Catch::Contains("not where it is listed"));
  CHECK_THAT(damaged([](graph&, region& r) { r.iterations = 3; }), Catch::Contains("another leading extent"));
  CHECK_THAT(damaged([](graph& g, region& r) { g.operands[g.nodes[r.owner].first + 1] = first_of(g, parameter_info); }), Catch::Contains("differs from what is handed in"));
  CHECK_THAT(damaged([](graph& g, region& r) { r.results[0] = first_of(g, input_info); }), Catch::Contains("is computed elsewhere"));
}
