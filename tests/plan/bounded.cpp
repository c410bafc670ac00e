// Bounded extents: a program runs fewer rows than it was planned for, whatever else has extents that look alike.
#include "../furthest.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <vector>

namespace {

using namespace tx;

// The table's rows are a multiple of the bound.
constexpr int rows = 64, table_rows = 4 * rows, width = 8;
struct table {
  param<tensor<f32, table_rows, width>> words;
};
using bounded_ids = tensor<i32, dyn<rows>, 3>;
constexpr auto look_up = [](table const& m, bounded_ids ids) { return embedding(m.words, ids); };
constexpr auto add = [](tensor<f32, dyn<rows>, 4> x, tensor<f32, dyn<rows>, 4> y) { return x + y; };
constexpr auto loss = [](table const& m, bounded_ids ids) {
  auto const x = embedding(m.words, ids);
  return sum(x * x);
};

std::vector<i32> ids_of(int count) {
  std::vector<i32> ids;
  for (int i = 0; i < 3 * count; ++i) ids.push_back((i * 101 + 7) % table_rows);
  return ids;
}

}  // namespace

TEST_CASE("a table is not bounded because the ids are") {
  executor<function<look_up, table>, cpu> run{seed(1)};
  auto const words = run.elements();
  for (int const count : {1, 10, 64}) {
    auto const ids = ids_of(count);
    auto const found = run(ids).value;
    REQUIRE(found.size() == static_cast<std::size_t>(count * width));  // as many as were asked for
    double furthest = 0;
    for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r)
      for (std::size_t c = 0; c < width; ++c) {
        double wanted = 0;
        for (std::size_t k = 0; k < 3; ++k) wanted += static_cast<double>(words[static_cast<std::size_t>(ids[3 * r + k]) * width + c]);
        keep_furthest(furthest, std::abs(static_cast<double>(found[r * width + c]) - wanted));
      }
    CHECK(furthest < 1e-6);
  }
}

TEST_CASE("the gradient of a table counts the rows that are there") {
  executor<train_step<table, loss, adamw>, cpu> run{seed(1)};
  executor<train_step<table, loss, adamw>, cpu> full{seed(1)};
  full(ids_of(64));  // leaves a full batch in the arena
  full.reset_optimizer();
  std::copy(run.elements().begin(), run.elements().end(), full.elements().begin());
  auto const few = ids_of(5);
  CHECK(run(few).loss == full(few).loss);
  CHECK(std::equal(run.elements(1).begin(), run.elements(1).end(), full.elements(1).begin()));
}

TEST_CASE("arguments of one bounded extent have the same number of rows") {
  executor<function<add>, cpu> run{seed(1)};
  std::vector<float> const ten(40, 1.0f), twenty(80, 2.0f);
  CHECK_THROWS_WITH(run(ten, twenty), Catch::Contains("argument 1 has 20 rows") && Catch::Contains("has 10"));
  CHECK_THROWS_AS(run(twenty, ten), shape_error);
  auto const sum_of = run(ten, ten).value;
  CHECK(sum_of.size() == 40);
  for (float x : sum_of) CHECK(x == 2.0f);
}

TEST_CASE("training programs of one model share the count of steps") {
  executor<train_step<table, loss, adamw>, cpu> first{seed(1)};
  executor<train_step<table, loss, adamw, clip_gradient>, cpu> second{first};
  auto const ids = ids_of(9);
  for (int i = 0; i < 3; ++i) first(ids);
  CHECK(second.steps_run() == 3);
  second(ids);
  CHECK(first.steps_run() == 4);
  // Four steps of one program: the second continues where the first stood.
  executor<train_step<table, loss, adamw>, cpu> alone{seed(1)};
  second.settings["clip_norm"] = 1e30f;
  for (int i = 0; i < 4; ++i) alone(ids);
  double furthest = 0;
  for (std::size_t i = 0; i < alone.elements().size(); ++i)
    keep_furthest(furthest, std::abs(static_cast<double>(alone.elements()[i]) - static_cast<double>(first.elements()[i])));
  CHECK(furthest < 1e-5);
  first.reset_optimizer();
  CHECK(second.steps_run() == 0);
  for (float x : first.elements(1)) REQUIRE(x == 0);
}

namespace {
constexpr auto weighed_mean = [](tensor<f32, dyn<rows>> x, tensor<f32, dyn<rows>> w) { return sum(x * w) / sum(w); };
// Words and places side by side in one argument: what one of them may be says nothing of the other.
struct two_tables {
  param<tensor<f32, 40, 3>> words;
  param<tensor<f32, 4, 3>> places;
};
constexpr auto side_by_side = [](two_tables const& m, tensor<i32, 5, 2> ids) { return embedding(m.words, slice<1, 0, 1>(ids)) + embedding(m.places, slice<1, 1, 1>(ids)); };
}  // namespace

TEST_CASE("a bounded vector has a sum") {
  executor<function<weighed_mean>, cpu> run{};
  for (int const count : {64, 5, 1}) {
    std::vector<float> x(static_cast<std::size_t>(count)), w(x.size());
    double sum = 0, weights = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i % 7) - 2;
      w[i] = static_cast<float>(1 + i % 3);
      sum += static_cast<double>(x[i] * w[i]);
      weights += static_cast<double>(w[i]);
    }
    CHECK(static_cast<double>(float(run(x, w).value)) == Approx(sum / weights).epsilon(1e-5));
  }
}

TEST_CASE("columns of one argument have ranges of their own") {
  executor<function<side_by_side, two_tables>, cpu> run{seed(1)};
  std::vector<i32> const ids{39, 0, 5, 3, 17, 1, 2, 2, 30, 3};  // words beyond the places
  auto const got = run(ids).value;
  auto const all = run.tensors();
  for (std::size_t r = 0; r < 5; ++r)
    for (std::size_t k = 0; k < 3; ++k)
      CHECK(got[3 * r + k] == Approx(all[0].data[3 * static_cast<std::size_t>(ids[2 * r]) + k] + all[1].data[3 * static_cast<std::size_t>(ids[2 * r + 1]) + k]));
}
