// Gradients that were once not the slopes that differences find. Those of drawn programs are compared in drawn.cpp.
#include "slopes.hpp"

#include <catch2/catch.hpp>

using namespace drawn;

TEST_CASE("a number of the program that a repeated block reads, and hands out, has its gradient") {
  graph g{};
  var const x = weights(g, 0, 0, dtype::f64, shape{1, {}, {1}}), y = weights(g, 1, 1, dtype::f64, shape{1, {}, {1}});
  repeated body(g, 3, false);
  var const carried = body.carry(x);
  body.enter();
  var const next = tx::sin(carried - y);
  body.leave();
  body.next(next);
  body.stack(y);
  body.close();
  g.outputs.push_back({body.result(0).id, tx::output_kind::result, -1});
  g.outputs.push_back({body.result(1).id, tx::output_kind::result, -1});
  auto const slopes = slope_check(g).run();
  REQUIRE(slopes);
  CHECK(std::abs(slopes->found) > 0.1);
  CHECK(slopes->said == Approx(slopes->found).epsilon(1e-6));
}

// The backward pass's carry starts with ones, which depend on nothing: it depends on x by what the forward pass hands it.
TEST_CASE("the second gradient through a repeated block, of a sum") {
  graph g{};
  var const x = weights(g, 0, 0, dtype::f64, shape{1, {}, {2}});
  repeated body(g, 3, false);
  var const carried = body.carry(x);
  body.enter();
  var const next = tx::sin(carried);
  body.leave();
  body.next(next);
  body.close();
  vec<var> const by = gradients_by(total(body.result(0)), {x});
  g.outputs.push_back({by[0].id, tx::output_kind::result, -1});
  auto const slopes = slope_check(g).run();
  REQUIRE(slopes);
  CHECK(std::abs(slopes->found) > 0.01);
  CHECK(slopes->said == Approx(slopes->found).epsilon(1e-6));
}
