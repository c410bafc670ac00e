// The best state, the patience for it, and numbers smoothed.
#include "loop_run.hpp"

#include <catch2/catch.hpp>

using namespace tx::train;

namespace {

template <class Before, class After>
void through_a_file(Before const& save, After const& restore) {
  temp_folder folder;
  to_save out;
  save(out);
  tx::io::write_safetensors(folder / "arrays", out.arrays(), {});
  auto const arrays = tx::io::safetensors::read(folder / "arrays");
  restore(saved(out.values(), arrays));
}

}  // namespace

TEST_CASE("the best state is kept, and nothing else is read for it", "[loop]") {
  int reads = 0;
  auto const read = [&](float value) {
    return [&reads, value] { return ++reads, std::vector<float>{value, 1}; };
  };
  best_state<float> lowest(measure{});
  CHECK_FALSE(lowest.value());
  CHECK(lowest.offer(3, 10, read(3)));
  CHECK_FALSE(lowest.offer(3, 20, read(4)));
  CHECK_FALSE(lowest.offer(std::nan(""), 25, read(4)));
  CHECK(lowest.offer(2, 30, read(5)));
  CHECK(reads == 2);
  CHECK(lowest.value() == 2);
  CHECK(lowest.step() == 30);
  CHECK(lowest.parameters() == std::vector<float>{5, 1});

  best_state<float> highest(measure{"auc", "AUC", true});
  CHECK(highest.offer(std::nan(""), 1, read(1)));
  CHECK_FALSE(highest.offer(std::nan(""), 1, read(1)));
  CHECK(highest.offer(0.5, 2, read(2)));  // anything is better than no number
  CHECK_FALSE(highest.offer(0.25, 3, read(3)));
  through_a_file([&](to_save& out) { highest.save(out); },
                 [&](saved const& in) {
                   CHECK(in.value<double>("best_auc") == 0.5);
                   best_state<float> again(measure{"auc", "AUC", true});
                   again.restore(in, 2);
                   CHECK(again.value() == 0.5);
                   CHECK(again.step() == 2);
                   CHECK(again.parameters() == highest.parameters());
                   best_state<float> other(measure{"auc", "AUC", true});
                   CHECK_THROWS_WITH(other.restore(in, 3), Catch::Contains("another model"));
                   best_state<float> renamed(measure{});
                   CHECK_THROWS_AS(renamed.restore(in, 2), tx::format_error);
                 });
}

TEST_CASE("a run without a better state for so long has lost its patience", "[loop]") {
  patience p(2);
  CHECK_FALSE(p.seen(false));
  CHECK_FALSE(p.seen(true));
  CHECK_FALSE(p.seen(false));
  through_a_file([&](to_save& out) { p.save(out); },
                 [&](saved const& in) {
                   patience again(2);
                   again.restore(in);
                   CHECK(again.seen(false));
                   CHECK(again.over());
                   again.begin_anew();
                   CHECK_FALSE(again.over());
                 });
  patience endless(0);
  for (int k = 0; k < 100; ++k) CHECK_FALSE(endless.seen(false));
}

TEST_CASE("a smoothed number begins as the mean and forgets", "[loop]") {
  recent r;
  r.add(1, 1);
  r.add(3, 2);
  CHECK(r.value() == 2);
  r.add(5, 3);
  CHECK(r.value() == Approx(3));
  for (std::int64_t step = 4; step < 500; ++step) r.add(7, step);
  CHECK(r.value() == Approx(7).margin(1e-6));
  through_a_file([&](to_save& out) { r.save(out, "loss"); },
                 [&](saved const& in) {
                   recent again;
                   again.restore(in, "loss");
                   CHECK(again.value() == r.value());
                   recent missing;
                   missing.restore(in, "other");
                   missing.add(4, 500);  // nothing was known: it does not begin at 0
                   CHECK(missing.value() == 4);
                 });
}

TEST_CASE("what is saved comes back by name and type", "[loop]") {
  through_a_file(
      [](to_save& out) {
        out.put("state", std::uint64_t{0xfedcba9876543210u});
        out.put("count", 7);
        out.put("share", 0.25);
        out.put("text", std::string("a b"));
        out.put_copy("order", std::vector<std::int64_t>{3, 1, 2});
        out.put("nothing", std::vector<float>{});
        CHECK_THROWS_WITH(out.put("count", 8), Catch::Contains("'count' already. FIX"));
        CHECK_THROWS_AS(out.put_copy("order", std::vector<float>{1}), tx::value_error);
      },
      [](saved const& in) {
        CHECK(in.value<std::uint64_t>("state") == 0xfedcba9876543210u);
        CHECK(in.value<int>("count") == 7);
        CHECK(in.value<double>("share") == 0.25);
        CHECK(in.value<std::string>("text") == "a b");
        CHECK(in.array<std::int64_t>("order") == std::vector<std::int64_t>{3, 1, 2});
        CHECK(in.array<float>("nothing").empty());
        CHECK(in.value("missing", 9) == 9);
        CHECK_THROWS_AS(in.value<int>("missing"), tx::format_error);
        CHECK_THROWS_AS(in.value<int>("text"), tx::format_error);
        CHECK_THROWS_WITH(in.array<float>("order"), Catch::Contains("order is of another type"));
      });
}
