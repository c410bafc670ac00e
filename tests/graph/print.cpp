// Graphs as people see them.
#include <tx/expr/repeat.hpp>
#include <tx/expr/trace.hpp>
#include <tx/graph/print.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/tanh.hpp>

#include <catch2/catch.hpp>

namespace {
using namespace tx;

struct block {
  param<tensor<f32, 3>> w;
  constexpr auto operator()(auto const& x) const { return tanh(x * w); }
};
struct net {
  repeat<2, block> layer;
};
constexpr auto f = [](net const& m, tensor<f32, dyn<4>, 3> x) { return m.layer(x) + 0.5; };

graph recorded() {
  graph g{};
  trace<net, f>(g);
  return g;
}
}  // namespace

TEST_CASE("a graph as text names each value, what it is made of and its shape") {
  std::string const text = to_text(recorded());
  INFO(text);
  CHECK(text.find(" = input() : f32[<=4, 3]\n") != std::string::npos);
  CHECK(text.find(" : f32[2, 3]\n") != std::string::npos);   // the weights of both blocks
  CHECK(text.find("\n  %") != std::string::npos);            // what is inside the block is indented
  auto const tanh_at = text.find(" = tanh(%");
  REQUIRE(tanh_at != std::string::npos);
  auto const mul_at = text.rfind(" = mul(%", tanh_at);
  REQUIRE(mul_at != std::string::npos);
  auto const name_at = text.rfind('%', mul_at);
  CHECK(text.substr(tanh_at, 9 + mul_at - name_at) == " = tanh(" + text.substr(name_at, mul_at - name_at) + ")");
  CHECK(text.find("constant() {0.5") != std::string::npos);
}

TEST_CASE("a graph as dot has a box for each value and an arrow for each operand") {
  graph const g = recorded();
  std::string const dot = to_dot(g);
  INFO(dot);
  CHECK(dot.starts_with("digraph "));
  CHECK(dot.ends_with("}\n"));
  auto const count = [&](std::string const& what) {
    int n = 0;
    for (std::size_t at = dot.find(what); at != std::string::npos; at = dot.find(what, at + 1)) ++n;
    return n;
  };
  int operands = 0;
  for (int i = 0; i < g.size(); ++i) operands += g[i].inputs;
  REQUIRE(operands > 5);
  CHECK(count("[label=") == g.size());
  CHECK(count(" -> ") == operands);
  for (int i = 0; i < g.size(); ++i)
    for (int k = 0; k < g[i].inputs; ++k) CHECK(dot.find("n" + std::to_string(g.input(i, k)) + " -> n" + std::to_string(i) + ";") != std::string::npos);
}
