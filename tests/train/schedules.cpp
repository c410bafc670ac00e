// Schedules against PyTorch's (tests/parity/optimizers.py) and against closed forms.
#include "../parity/numbers.hpp"

#include <tx/run/rate_schedule.hpp>

namespace {

using tx::decay_shape;
using tx::schedule;

void check_pytorch(std::string const& name, schedule const& s) {
  auto const wanted = parity_numbers(parity_file("optimizers"), "schedule." + name);
  REQUIRE(wanted.size() >= 19);
  for (std::size_t step = 0; step < wanted.size(); ++step) {
    INFO(name << ", step " << step);
    CHECK(s.at(static_cast<std::int64_t>(step)) == Approx(wanted[step]).epsilon(1e-12).margin(1e-13));
  }
}

}  // namespace

TEST_CASE("schedules are PyTorch's", "[schedule]") {
  check_pytorch("constant", {decay_shape::constant, 4});
  check_pytorch("linear", {decay_shape::linear, 4, 18});
  check_pytorch("linear_end", {.shape = decay_shape::linear, .warmup = 4, .total = 18, .end = 0.25});
  check_pytorch("cosine", {decay_shape::cosine, 4, 18});
  check_pytorch("cosine_end", {.shape = decay_shape::cosine, .warmup = 4, .total = 18, .end = 0.125});
  check_pytorch("polynomial", {.shape = decay_shape::polynomial, .warmup = 4, .total = 18, .power = 2});
  check_pytorch("stairs", {.shape = decay_shape::stairs, .warmup = 4, .every = 5, .factor = 0.5});
  check_pytorch("one_cycle", {.shape = decay_shape::one_cycle, .warmup = 12, .total = 40, .end = 0.04 * 1e-4});
}

TEST_CASE("where schedules begin, turn and end", "[schedule]") {
  schedule const root{.shape = decay_shape::polynomial, .warmup = 2, .total = 102, .end = 0.1, .power = 0.5};
  CHECK(root.at(0) == 0.5);
  CHECK(root.at(2) == 1);
  CHECK(root.at(77) == Approx(0.1 + 0.9 * 0.5));
  CHECK(root.at(102) == 0.1);
  CHECK(root.at(1'000'000'000'000) == 0.1);
  schedule const stairs{.shape = decay_shape::stairs, .every = 3};
  CHECK(stairs.at(2) == 1);
  CHECK(stairs.at(3) == Approx(0.1));
  CHECK(stairs.at(8) == Approx(0.01));
  schedule const cycle{.shape = decay_shape::one_cycle, .warmup = 5, .total = 9, .start = 0.5};
  CHECK(cycle.at(0) == 0.5);
  CHECK(cycle.at(2) == Approx(0.75));
  CHECK(cycle.at(4) == 1);
  CHECK(cycle.at(6) == Approx(0.5));
  CHECK(cycle.at(8) == 0);
  CHECK(cycle.at(9) == 0);
  CHECK((schedule{.shape = decay_shape::polynomial, .warmup = 3, .total = 3}.at(3)) == 1);  // nothing to decay over
}

TEST_CASE("schedules that lack a number say which", "[schedule]") {
  CHECK_THROWS_WITH((schedule{.shape = decay_shape::stairs}.at(0)), Catch::Contains("FIX: set every"));
  CHECK_THROWS_AS((schedule{.shape = decay_shape::one_cycle, .warmup = 1, .total = 9}.at(0)), tx::value_error);
  CHECK_THROWS_WITH((schedule{.shape = decay_shape::one_cycle, .warmup = 4, .total = 4}.at(0)),
                    Catch::Contains("set warmup to at least 2"));
}
