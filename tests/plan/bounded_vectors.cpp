// Vectors, and matrices of one column, of a bounded extent: their elements are the rows that a run may have fewer of.
#include "../furthest.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/cumsum.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/one_hot.hpp>
#include <tx/ops/random.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/take.hpp>
#include <tx/ops/where.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

namespace {

using namespace tx;

constexpr int most = 5;
using vector = tensor<f32, dyn<most>>;
using column = tensor<f32, dyn<most>, 1>;

struct table {
  param<tensor<f32, 7, 1>> scores;
};
struct results {
  vector twice, chosen, placed, summed;
  tensor<f64, dyn<most>> wide;
  column scaled;
  tensor<f32, dyn<most>, 1> scored;
  tensor<f32, dyn<most>, most> hot;
  tensor<f32> total;
  vector drawn;
  column drawn_column;
};
constexpr auto computed = [](table const& m, vector v, column c, tensor<i32, dyn<most>> ids) {
  return results{v * 2,
                 where(less(v, 2.5), v, 0.0) + cast<f32>(ids),
                 cast<f32>(iota<0>(v)) * v,
                 cumsum<0>(v) * v,
                 cast<f64>(v),
                 c * 3 + reshape<-1, 1>(v),
                 sigmoid(take(m.scores, ids)),
                 one_hot<most>(iota<0>(v)),
                 sum(v * cast<f32>(less(ids, 3))),
                 uniform(v),
                 uniform(c)};
};

struct scaled {
  param<tensor<f32, 1>, init::ones> by;
};
constexpr auto scaled_sum = [](scaled const& m, vector v) { return sum(v * m.by); };
struct loss_and_kept {
  tensor<f32> loss;
  vector kept;
};
constexpr auto dropped_sum = [](scaled const& m, vector v) {
  auto const kept = dropout(v * m.by);
  return loss_and_kept{sum(kept), kept};
};

double largest_difference(auto const& told, auto const& wanted) {
  return distance(std::vector<double>(told.begin(), told.end()), std::vector<double>(wanted.begin(), wanted.end()));
}

template <class Backend>
void check_values() {
  executor<function<computed, table>, Backend> run{seed(1), {.threads = 2}};
  executor<function<computed, table>, reference> plain{seed(1)};
  for (std::size_t i = 0; i < 7; ++i) run.elements()[i] = plain.elements()[i] = static_cast<f32>(i) - 3;
  for (int const count : {most, 0, 1, 4}) {
    CAPTURE(count);
    std::vector<f32> v, c;
    std::vector<i32> ids;
    for (int i = 0; i < count; ++i) {
      v.push_back(static_cast<f32>(i + 1));
      c.push_back(0.5f * static_cast<f32>(i));
      ids.push_back((3 * i + 1) % 7);
    }
    auto const told = run(v, c, ids);
    REQUIRE(told.twice.size() == v.size());
    REQUIRE(told.hot.size() == most * v.size());
    double before = 0, total = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      double const x = v[i];
      before += x;
      if (ids[i] < 3) total += x;
      CHECK(told.twice[i] == 2 * x);
      CHECK(told.chosen[i] == (x < 2.5 ? x : 0) + ids[i]);
      CHECK(told.placed[i] == static_cast<double>(i) * x);
      CHECK(told.summed[i] == before * x);
      CHECK(told.wide[i] == x);
      CHECK(told.scaled[i] == 3 * static_cast<double>(c[i]) + x);
      CHECK(std::abs(told.scored[i] - 1 / (1 + std::exp(3.0 - ids[i]))) < 1e-6);
      for (std::size_t k = 0; k < most; ++k) CHECK(told.hot[most * i + k] == (k == i ? 1 : 0));
      CHECK((told.drawn[i] >= 0 && told.drawn[i] < 1));
      if (i > 0) CHECK(told.drawn[i] != told.drawn[i - 1]);
    }
    CHECK(*told.total.begin() == total);
    auto const other = plain(v, c, ids);
    CHECK(largest_difference(told.drawn, other.drawn) == 0);
    CHECK(largest_difference(told.drawn_column, other.drawn_column) == 0);
  }
}

}  // namespace

TEST_CASE("elementwise work on bounded vectors: cpu") { check_values<cpu>(); }
TEST_CASE("elementwise work on bounded vectors: reference") { check_values<reference>(); }

TEST_CASE("the gradient through a bounded vector is that of the rows there are") {
  executor<train_step<scaled, scaled_sum, sgd>, cpu> run{seed(1)};
  run.settings["learning_rate"] = 1;
  run.settings.groups[0].decay = 0;
  std::vector<f32> const v{2, 3, 5};
  CHECK(run(v).loss == 10.0f);
  CHECK(run.elements()[0] == 1.0f - 10.0f);
}

TEST_CASE("dropout drops elements of a bounded vector at its rate") {
  executor<train_step<scaled, dropped_sum, sgd>, cpu> run{seed(1)};
  run.settings["learning_rate"] = 0;
  run.settings["dropout"] = 0.25f;
  std::vector<f32> const v{1, 1, 1, 1};
  constexpr int runs = 500;
  double sum = 0;
  int dropped = 0;
  for (int i = 0; i < runs; ++i) {
    auto const told = run(v);
    sum += told.loss;
    double kept = 0;
    for (float const x : told.kept) {
      CHECK((x == 0 || std::abs(x - 1 / 0.75f) < 1e-6f));
      dropped += x == 0;
      kept += static_cast<double>(x);
    }
    CHECK(std::abs(kept - static_cast<double>(told.loss)) < 1e-5);
  }
  CHECK(std::abs(dropped / (4.0 * runs) - 0.25) < 0.05);  // five times the standard deviation
  CHECK(std::abs(sum / runs - 4) < 0.3);
}

TEST_CASE("shards begin at rows of random numbers as planned, so that ranks of fewer share none; parts of one batch follow each other") {
  constexpr auto leading = [](tensor<f32, dyn<most>, 4> a) { return a + uniform(a); };
  constexpr auto inner = [](tensor<f32, 2, dyn<most>, 4> a) { return a + uniform(a); };
  auto const varies = [](auto const& program) {
    for (exec::varying_number const& v : program.varying)
      if (v.field == exec::operand_field::random_rows) return true;
    return false;
  };
  exec::lowered const one = function<leading>::source::lower(cpu_target), other = function<inner>::source::lower(cpu_target);
  CHECK_FALSE(varies(one));
  CHECK(varies(other));
  exec::run_extents now{};
  now.bound_of = other.bound_of;
  now.now[1] = 2;
  int drawn = 0;
  for (exec::operand_ref r : other.operands) {
    if (r.random.planned_rows == 0) continue;
    ++drawn;
    exec::resolve(r, other.varying.begin(), now);
    exec::frame second{};
    second.shard = 1;
    CHECK(r.random.rows == 2 * 2);
    CHECK(second.random_row(r, 3) == 2 * most + 3);
  }
  CHECK(drawn == 1);
}
