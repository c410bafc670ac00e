// value_and_grad: the value and the gradient that a step trains by, for a loop of one's own.
#include "../furthest.hpp"
#include "small_net.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

namespace {

using namespace tx;

using model = small::net<float>;
using rows = tensor<float, small::rows, small::width>;
struct report {
  tensor<float> loss;
  rows dropped;
};
constexpr auto loss = [](model const& m, rows x) {
  auto const dropped = dropout(x);
  auto const z = m.layers(dropped) * m.gain + m.shift;
  return report{mean(z * z), dropped};
};

}  // namespace

TEST_CASE("a loop of one's own does what a step does", "[value_and_grad]") {
  executor<train_step<model, loss, sgd>, cpu> step{seed(8)};
  executor<value_and_grad<loss, model>, cpu> run{seed(8)};
  step.settings["learning_rate"] = 0.25f;
  for (int g = 0; g < layout<model>::groups.size(); ++g) step.settings.groups[static_cast<std::size_t>(g)] = {1, 0};
  for (int t = 1; t <= 20; ++t) {
    auto const x = small::batch<float>(t);
    auto const wanted = step(x);
    auto const r = run(x);
    CHECK(r.value.loss == Approx(wanted.loss).epsilon(1e-5));
    CHECK(std::equal(r.value.dropped.begin(), r.value.dropped.end(), wanted.dropped.begin()));  // the same elements
    auto const p = run.elements();
    REQUIRE(r.gradient.elements().size() == p.size());
    for (std::size_t i = 0; i < p.size(); ++i) p[i] -= 0.25f * r.gradient[i];
    double furthest = 0;
    for (std::size_t i = 0; i < p.size(); ++i)
      keep_furthest(furthest, std::abs(static_cast<double>(p[i]) - static_cast<double>(step.elements()[i])));
    CHECK(furthest < 1e-5);
  }
  CHECK(run.steps_run() == 20);
}

TEST_CASE("gradients by name, of a scalar function in f64", "[value_and_grad]") {
  using net = small::net<double>;
  using program = value_and_grad<small::loss<double>, net>;
  // The gradient is computed where it is handed out.
  static_assert(program::memory.optimizer == 0 && program::memory.arena < program::memory.parameters + (1 << 14));
  static_assert(value_and_grad<small::loss<float>, model, mixed<bf16>>::memory.activations <
                program::memory.activations / 2);
  executor<program, cpu> run{seed(8)};
  executor<value_and_grad<small::loss<double>, net, compiled_with<compile_options{.fuse = false}>>, reference> plain{
      seed(8)};
  auto const x = small::batch<double>(1);
  small::plain_net by_hand;
  for (auto const& t : run.tensors()) by_hand.tensors.emplace_back(t.data.begin(), t.data.end());
  std::vector<values> wanted;
  double const value = by_hand.loss(x, wanted);
  auto check = [&](auto& one) {
    for (int twice = 0; twice < 2; ++twice) {
      auto const r = one(x);
      CHECK(r.value == Approx(value).epsilon(1e-13));
      auto const tensors = r.gradient.tensors();
      REQUIRE(tensors.size() == wanted.size());
      double inside = 0;
      for (std::size_t k = 0; k < tensors.size(); ++k) {
        INFO(tensors[k].name);
        CHECK(tensors[k].name == one.tensors()[k].name);
        CHECK(tensors[k].dims == one.tensors()[k].dims);
        CHECK(distance(values(tensors[k].data.begin(), tensors[k].data.end()), wanted[k]) < 1e-12);
        for (double g : tensors[k].data) inside += g * g;
      }
      double all = 0;
      for (double g : r.gradient) all += g * g;
      CHECK(all == Approx(inside).epsilon(1e-12));  // nothing lies between them
    }
  };
  check(run);
  check(plain);
}
