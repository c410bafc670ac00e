// Drawn networks whose parameters two ranks divide, in loops that gather those of the next iteration while one is computed (dist/fetched_ahead.hpp), in every plan.
#include "check.hpp"
#include "network.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace drawn;
using namespace drawn::words;

constexpr int rows = 4, width = 6;

class divided_network : network {
 public:
  explicit divided_network(unsigned seed) : network(seed) {
    var x = input(g, 0, dtype::f32, of({rows, width}));
    for (int k = 0, loops = 1 + one_in(3); k < loops; ++k) {
      x = repeated_times(2 + below(3), x, [&](var carried, repeated& body) {
        var const next = layer(carried);
        if (one_in(3)) body.stack(next * 0.5);
        return next;
      });
      if (one_in(3)) x = layer(x);
    }
    ends_with(x);
  }
  graph step() {
    finish end{};
    end.halves = below(3);
    end.mode = training::sharded;
    end.several_ranks = true;
    end.shards = 1 + one_in(4);
    end.recomputes = one_in(3);
    end.optimizer = end.recomputes ? 0 : one_in(2) ? 2 : 5;
    REQUIRE(drawn::detail::zero_of(end) == 3);
    return finished(g, end);
  }

 private:
  // Weights whose rows two ranks divide evenly or not, used once or twice, with vectors, which are whole.
  var layer(var x) {
    int const between = one_in(2) ? 5 : 8;
    var const in = weight(of({width, between})), out = weight(of({between, width}));
    var h = matmul(x, in);
    if (one_in(2)) h = h + broadcast_to(weight(of({between})), h.dims());
    h = tanh(h);
    if (one_in(4)) h = h + tanh(matmul(matmul(h, turned(in)), in)) * 0.2;  // three uses, and gradients that are added up
    var y = matmul(h, out);
    if (one_in(4)) y = y * total(out) * 0.1;  // read by something else
    return x * 0.5 + y * 0.3;
  }
};

}  // namespace

TEST_CASE("drawn networks whose parameters are gathered an iteration ahead") {
  int ahead = 0, networks = 0;
  totals sums;
  for (unsigned seed = 1; seed <= 48; ++seed) {
    CAPTURE(seed);
    graph g{};
    try {
      g = divided_network(seed).step();
    } catch (tx::invalid const& e) {
      FAIL(e.what());
    }
    REQUIRE(wrong_with(g, dtype::f32, &sums) == "");
    ++networks;
  }
  ahead = sums.planned["begun_all_gather_of_next"];
  CHECK(networks == 48);
  CHECK(ahead > 200);
}
