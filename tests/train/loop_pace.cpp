// How long a run goes on, and when something is due in it.
#include "loop_run.hpp"

#include <catch2/catch.hpp>

using namespace tx::train;

TEST_CASE("a run of steps is over after them", "[loop]") {
  pace way({.steps = 4});
  CHECK(way.steps() == 4);
  CHECK(way.fixed_steps() == 4);
  CHECK(way.share(0, 1e9) == 0);
  CHECK(way.share(3, 0) == 0.75);
  CHECK(way.share(4, 0) == 1);
  CHECK_FALSE(way.measure(100, 1));
  CHECK_THROWS_AS(pace({}), tx::value_error);
}

TEST_CASE("a run by the clock is over when its time is, or after its steps", "[loop]") {
  pace way({.seconds = 10});
  CHECK(way.by_clock());
  CHECK(way.steps() == 0);  // who knows
  CHECK(way.share(1000, 2.5) == 0.25);
  CHECK_FALSE(way.measure(19, 1));
  CHECK(way.measure(20, 1));
  CHECK(way.steps() == 200);
  CHECK_FALSE(way.measure(21, 1));  // once
  CHECK(way.share(500, 9) == 0.9);  // the clock counts
  CHECK(way.share(500, 10) >= 1);
  CHECK(way.fixed_steps() == 0);
  pace both({.steps = 100, .seconds = 10});
  CHECK(both.share(60, 2) == 0.6);
  CHECK(both.share(60, 8) == 0.8);
  CHECK(both.share(100, 0) == 1);
}

TEST_CASE("seconds may become a number of steps, which a resumed run keeps", "[loop]") {
  pace way({.steps = 5000, .seconds = 30, .fixed = true});
  CHECK(way.steps() == 5000);
  CHECK(way.fixed_steps() == 0);  // not found out yet, so a run that is resumed now finds it out
  CHECK(way.share(2500, 1e9) == 0.5);
  CHECK(way.measure(20, 2));
  CHECK(way.steps() == 300);
  CHECK(way.fixed_steps() == 300);
  pace at_most({.steps = 120, .seconds = 30, .fixed = true});
  CHECK(at_most.measure(20, 2));
  CHECK(at_most.steps() == 120);
  pace short_time({.steps = 5000, .seconds = 0.1, .fixed = true});
  CHECK(short_time.measure(20, 2));
  CHECK(short_time.steps() == pace::fewest_fixed);
  pace no_time({.seconds = 1, .fixed = true});
  CHECK(no_time.measure(20, 0));
  CHECK(no_time.steps() > 0);
  pace resumed({.steps = 5000, .seconds = 30, .fixed = true});
  resumed.restore(300);
  CHECK_FALSE(resumed.measure(20, 7));
  CHECK(resumed.steps() == 300);
  pace before({.steps = 5000, .seconds = 30, .fixed = true});
  before.restore(0);
  CHECK(before.measure(20, 2));
  CHECK(before.steps() == 300);
  pace longer({.steps = 500});
  longer.restore(300);  // a number of steps is what it is given
  CHECK(longer.steps() == 500);
}

TEST_CASE("epochs are steps of whole batches, at least one", "[loop]") {
  CHECK(in_epochs(2, 100, 8).steps == 24);  // what an epoch has left is left out
  CHECK(in_epochs(10, 100, 64).steps == 10);
  CHECK(in_epochs(3, 5, 8).steps == 3);
  CHECK(in_epochs(0.01, 100, 8).steps == 1);
  CHECK_THROWS_AS(in_epochs(0, 100, 8), tx::value_error);
  CHECK_THROWS_AS(in_epochs(1, 100, 0), tx::value_error);
}

TEST_CASE("what is due after so many steps, or so many times in the rest of a run", "[loop]") {
  CHECK_FALSE(every{0}.due(0));
  CHECK(every{5}.due(10));
  CHECK_FALSE(every{5}.due(11));

  auto const when = [](validations const& v, std::int64_t steps) {
    std::vector<std::int64_t> at;
    std::int64_t seen = 0;
    for (std::int64_t done = 1; done <= steps; ++done)
      if (v.due(done, static_cast<double>(done - 1) / static_cast<double>(steps), seen)) at.push_back(done);
    return at;
  };
  CHECK(when({.count = 4}, 80) == std::vector<std::int64_t>{51, 61, 71});  // the fourth is the one at the end
  CHECK(when({.count = 2, .after = 0}, 80) == std::vector<std::int64_t>{41});
  CHECK(when({.steps = 30}, 80) == std::vector<std::int64_t>{30, 60});
  CHECK(when({.steps = 30, .count = 4}, 80) == std::vector<std::int64_t>{30, 51, 60, 61, 71});
  CHECK(when({}, 80).empty());
}
