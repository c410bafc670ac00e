// Drawn networks in which products read one value, as those of queries, keys and values do: what passes/neighbours.hpp lays side by side, in every plan.
#include "check.hpp"
#include "network.hpp"

#include <catch2/catch.hpp>

namespace {

using namespace drawn;
using namespace drawn::words;

constexpr int rows = 6, width = 8;

class network_of_neighbours : network {
 public:
  explicit network_of_neighbours(unsigned seed) : network(seed) {
    var x = input(g, 0, dtype::f32, of({rows, width}));
    bool const repeats = one_in(4, 3);
    if (repeats)
      x = repeated_times(2 + one_in(2), x, [&](var carried, repeated& body) {
        var const next = layer(carried);
        if (one_in(2)) body.stack(next * 0.5);
        return next;
      });
    if (!repeats || one_in(3)) x = layer(x);  // the last one by itself
    ends_with(x);
  }
  // A step that trains it, whose products multiply halves.
  graph step() {
    finish end{};
    end.halves = 1 + one_in(3);
    end.mode = one_in(3) ? training::clipped : one_in(3) ? training::accumulated : training::at_once;
    end.optimizer = one_in(2) ? 0 : 2;
    end.recomputes = one_in(4);
    in_parts = end.mode == training::accumulated;
    return finished(g, end);
  }
  bool in_parts = false;

 private:
  // Products of x, with and without biases, in any order of their weights, and what else may read x or them.
  var layer(var x) {
    vec<var> w{}, b{}, y{};
    int const products = 2 + below(3);
    int const biases = below(3);  // none, all, or some
    for (int k = 0; k < products; ++k) {
      bool const other_shape = one_in(8);
      w.push_back(weight(of({other_shape ? 16 : width, width})));
      b.push_back(weight(of({other_shape ? 16 : width})));
    }
    int const first = below(products);
    for (int n = 0; n < products; ++n) {
      int const k = (first + n) % products;
      var const by = one_in(10) ? w[(k + 1) % products] : w[k];  // one weight twice
      bool const square = by.dims().dim[0] == width;
      var z = matmul(one_in(12) ? x * 0.5 : x, square && one_in(12) ? by : turned(by));
      if (biases == 1 || (biases == 2 && one_in(2))) {
        var const bias = b[k].dims().last() == z.dims().last() ? b[k] : b[(k + 1) % products];
        if (bias.dims().last() == z.dims().last()) z = z + broadcast_to(bias, z.dims());
      }
      y.push_back(z);
    }
    var sum = x * 0.25;
    for (int k = 0; k < y.size(); ++k) {
      var z = y[k];
      if (z.dims().last() != width) z = slice(z, 1, below(2) * width, width, 1);
      if (one_in(2)) z = tanh(z);
      if (one_in(4)) z = z * 0.5 + tanh(y[k].dims().last() == width ? y[k] : z);
      if (k > 0 && one_in(3) && y[k - 1].dims() == y[k].dims()) z = matmul(matmul(y[k], turned(y[k - 1])) * 0.1, z);  // [rows, rows] x [rows, width]
      sum = sum + z * 0.3;
    }
    return sum;
  }
};

}  // namespace

TEST_CASE("drawn products of one value, side by side") {
  int joins = 0, joins_of_parts = 0, networks = 0;
  for (unsigned seed = 1; seed <= 120; ++seed) {
    CAPTURE(seed);
    graph g{};
    bool in_parts = false;
    try {
      network_of_neighbours drawn_one(seed);
      g = drawn_one.step();
      in_parts = drawn_one.in_parts;
    } catch (tx::invalid const& e) {
      FAIL(e.what());
    }
    totals sums;
    REQUIRE(wrong_with(g, dtype::f32, &sums) == "");
    joins += sums.joined;
    if (in_parts) joins_of_parts += sums.joined;
    ++networks;
  }
  CAPTURE(joins, networks);
  CHECK(joins > networks / 2);
  CHECK(joins_of_parts > 20);
}
