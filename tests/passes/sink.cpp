// What is made of a stacked gradient moves into the loop that makes it, and what cannot stays.
#include "stacked.hpp"

#include <tx/backends/cpu/target.hpp>
#include <tx/backends/reference.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/adafactor.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/novograd.hpp>
#include <tx/train/sgd.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

using namespace stacked;

// Update nodes of more than a number, inside of loops and outside.
struct places {
  int inside = 0, outside = 0;
};
places updates(graph const& g) {
  places p;
  for (int i = 0; i < g.size(); ++i)
    if (g[i].when == step_phase::update && g[i].op->kind == op_kind::elementwise && g.info(i).count() > 1) ++(g[i].region == 0 ? p.outside : p.inside);
  return p;
}
// Does a loop hand out a value of so many elements that is no leaf's next value?
int stacked_gradients(graph const& g, std::int64_t count) {
  int n = 0;
  for (int i = 0; i < g.size(); ++i) {
    if (g[i].op != &result_info || g[i].region != 0 || g.info(i).count() != count || g[i].when == step_phase::forward) continue;
    bool replaces = false;
    for (output const& o : g.outputs) replaces = replaces || (o.kind == output_kind::assign && o.value == i);
    n += !replaces;
  }
  return n;
}
constexpr std::int64_t all_weights = layers * width * width;

// As sgd, by way of a number that is summed along rows.
struct by_rows {
  static constexpr int states = 0;
  static std::string identity() { return "by rows"; }
  static constexpr var update(update_context& u) {
    shape const all = u.gradient.dims();
    var const share = sum<-1>(broadcast_to(u.rate, all)) * (1.0 / all.last());
    return u.parameter - u.decayed_gradient() * broadcast_to(share, all);
  }
};
template <class Optimizer>
std::vector<float> after_a_step() {
  std::vector<float> x(8 * width);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.01f * static_cast<float>(i % 17) - 0.05f;
  executor<train_step<net, loss, Optimizer>, reference> run{seed(1)};
  run.settings["learning_rate"] = 0.5f;
  run(x);
  return run.read();
}

}  // namespace

TEST_CASE("an update moves into the backward loop, and its gradient is never stacked", "[sink]") {
  graph const g = recorded<net, adamw>();
  CHECK(updates(g).inside > 10);
  CHECK(stacked_gradients(g, all_weights) == 0);
  graph const norms = recorded<net, lamb>();  // one number for each layer
  CHECK(updates(norms).inside > 10);
  CHECK(stacked_gradients(norms, all_weights) == 0);
}

TEST_CASE("states of a number per row, column or tensor move into the loop with the update, and columns are summed as they lie", "[sink]") {
  graph const factored = recorded<net, adafactor>(), norms = recorded<net, novograd>();
  for (graph const& g : {factored, norms}) {
    CHECK(updates(g).inside > 10);
    CHECK(updates(g).outside == 0);
    CHECK(stacked_gradients(g, all_weights) == 0);
  }
  int columns = 0, rows = 0;
  for (int i = 0; i < factored.size(); ++i) {
    if (factored[i].when != step_phase::update) continue;
    CHECK(factored[i].op != &transpose_info);
    if (factored[i].op == &result_info) columns += factored.info(i).dims == shape{3, {}, {layers, 1, width}}, rows += factored.info(i).dims == shape{3, {}, {layers, width, 1}};
  }
  CHECK(columns == 1);
  CHECK(rows == 1);
  graph const deep = recorded<nested, adafactor>();
  CHECK(stacked_gradients(deep, 2 * all_weights) == 0);
  CHECK(updates(deep).outside == 0);
}

TEST_CASE("an update that waits for the norm stays outside, and what it waits with is stacked once", "[sink]") {
  graph const g = recorded<net, adamw, clip_gradient>();
  CHECK(stacked_gradients(g, all_weights) == 1);
  CHECK(updates(g).inside == 0);
}

TEST_CASE("where only the norm is asked for, nothing is stacked", "[sink]") { CHECK(stacked_gradients(recorded<net, adamw, gradient_norm>(), all_weights) == 0); }

TEST_CASE("of loops in each other the outer one has the update: slices of slices are stored over no leaf", "[sink]") {
  graph const g = recorded<nested, adamw>();
  CHECK(stacked_gradients(g, 2 * all_weights) == 0);
  CHECK(updates(g).inside > 10);
  for (int i = 0; i < g.size(); ++i)
    if (g[i].when == step_phase::update && g[i].region != 0) CHECK(g.loops_around(g[i].region) == 1);
}

TEST_CASE("sums over parts of a batch are stored where they are computed", "[sink]") {
  using plain = train_step<net, loss, sgd>;
  using parts = train_step<net, loss, sgd, accumulate<3>>;
  constexpr std::int64_t gradients = layout<net>::trained * 4;
  STATIC_REQUIRE(parts::memory.arena < plain::memory.arena + gradients + 4096);  // the sums once, no gradient beside them
}

TEST_CASE("a sum along rows of a number that all slices see has all of a row's terms in the loop too", "[sink]") {
  auto const ours = after_a_step<by_rows>(), wanted = after_a_step<sgd>();
  REQUIRE(ours.size() == wanted.size());
  for (std::size_t i = 0; i < ours.size(); ++i) CHECK(ours[i] == Approx(wanted[i]).margin(1e-7));
}
