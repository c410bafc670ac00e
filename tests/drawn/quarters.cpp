// Drawn networks whose products by parameters are of E4M3 (passes/quarters.hpp), in every plan, on targets that multiply such and on those that do not.
#include "check.hpp"
#include "network.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace drawn;
using namespace drawn::words;

constexpr int rows = 5, width = 16;

class quartered_network : network {
 public:
  explicit quartered_network(unsigned seed) : network(seed) {
    var x = input(g, 0, dtype::f32, of({rows, width}));
    if (one_in(4, 3)) x = repeated_times(2, x, [&](var carried, repeated&) { return layer(carried); });
    ends_with(layer(x));
  }
  graph step() {
    finish end{};
    end.halves = 1;
    end.quarters = true;
    end.mode = one_in(4) ? training::clipped : one_in(4) ? training::accumulated : training::at_once;
    end.optimizer = one_in(2) ? 0 : 2;
    end.recomputes = one_in(4);
    return finished(g, end);
  }

 private:
  // Through one width or another, which no unit takes perhaps, by weights that lie either way, with biases and without.
  var layer(var x) {
    int const between = one_in(4) ? 24 : one_in(2) ? 32 : width;
    var sum = x * 0.25;
    for (int branch = 0, branches = 1 + one_in(2); branch < branches; ++branch) {
      var h = one_in(3) ? matmul(x, weight(of({width, between}))) : matmul(x, turned(weight(of({between, width}))));
      if (one_in(2)) h = h + broadcast_to(weight(of({between})), h.dims());
      if (one_in(2)) sum = sum + total(h) * 0.01;  // another reader
      h = one_in(3) ? h * 0.5 : tanh(h);
      var y = one_in(2) ? matmul(h, weight(of({between, width}))) : matmul(h, turned(weight(of({width, between}))));
      if (one_in(2)) y = y + broadcast_to(weight(of({width})), y.dims());
      sum = sum + y * 0.3;
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("drawn networks of E4M3") {
  int products = 0, gradients = 0;
  totals sums;
  for (unsigned seed = 1; seed <= 32; ++seed) {
    CAPTURE(seed);
    graph g{};
    try {
      g = quartered_network(seed).step();
    } catch (tx::invalid const& e) {
      FAIL(e.what());
    }
    for (int i = 0; i < g.size(); ++i) {
      bool const of_e4m3 = g[i].op->kind == tx::op_kind::product && g.info(g.input(i, 0)).type == dtype::e4m3;
      products += of_e4m3;
      gradients += of_e4m3 && g[i].when == tx::step_phase::backward;
    }
    REQUIRE(wrong_with(g, dtype::f32, &sums) == "");
  }
  CHECK(products > 120);
  CHECK(gradients > 40);
  CHECK(sums.scaled[3] > 10);  // kernels of a library with scales alone,
  CHECK(sums.scaled[4] > 10);  // rounded too,
  CHECK(sums.scaled[6] > 10);  // and with a bias
}
