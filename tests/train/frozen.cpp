// Parameters that are not trained: neither gradient nor state, and the others train as they did.
#include "check_steps.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

namespace {

using namespace tx;

// The small net with its blocks frozen: tensors before small::plain_net::shift.
template <class T>
struct net {
  frozen_module<repeat<small::blocks, small::layer<T>>> layers;
  param<tensor<T, small::width>, init::zeros, small::quick> shift;
  param<tensor<T>, init::ones, not_decayed> gain;
  param<tensor<T, 7, 3>, init::ones> unused;
};
template <class T, int Rows = small::rows>
constexpr auto loss = [](net<T> const& m, tensor<T, Rows, small::width> x) {
  auto const z = m.layers(x) * m.gain + m.shift;
  return mean(z * z);
};
template <class T, class Optimizer, class... Options>
using step = train_step<net<T>, loss<T>, Optimizer, Options...>;

using all = layout<net<double>>;
static_assert(all::size == 4 * block_row &&
              all::trained == 3 * block_row);  // a row each: frozen, quick, not_decayed, decayed
static_assert(layout<small::net<double>>::trained == layout<small::net<double>>::size);

// A large frozen table beside a small head, by a group of one's own.
struct fixed {
  static constexpr float rate = 0;
  static constexpr float decay = 0;
  static constexpr bool trained = false;
};
template <class Group>
struct wide {
  param<tensor<float, 256, 256>, init::normal<1, 10>, Group> table;
  param<tensor<float, 256, 2>, init::normal<1, 10>> head;
};
template <class Group>
constexpr auto wide_loss = [](wide<Group> const& m, tensor<float, 4, 256> x) {
  auto const z = matmul(matmul(x, m.table), m.head);
  return mean(z * z);
};
using tuned = train_step<wide<decayed>, wide_loss<decayed>, adamw, clip_gradient>;
using held = train_step<wide<fixed>, wide_loss<fixed>, adamw, clip_gradient>;
constexpr std::int64_t table = 4 * 256 * 256;
static_assert(held::memory.parameters == tuned::memory.parameters);
static_assert(held::memory.optimizer == tuned::memory.optimizer - 2 * table);
static_assert(held::memory.gradients <= tuned::memory.gradients - table);
static_assert(held::memory.arena <= tuned::memory.arena - table);

}  // namespace

TEST_CASE("what is frozen stays, the rest trains as before", "[frozen]") {
  constexpr auto first = small::plain_net::shift;
  check_steps<step<double, adamw, gradient_norm>, cpu>(plain_adamw, 0.03125f, 0, 1e-10, first);
  check_steps<step<double, lamb, clip_gradient, gradient_norm>, cpu>(plain_lamb, 0.03125f, 0.25, 1e-10, first);
  check_steps<train_step<net<double>, loss<double, small::rows / 2>, adamw, accumulate<2>>, reference>(
      plain_adamw, 0.03125f, 0, 1e-10, first);
}

TEST_CASE("frozen modules keep their names; states and gradients have none of them", "[frozen]") {
  executor<step<float, adamw>, cpu> run{seed(3)};
  executor<train_step<small::net<float>, small::loss<float>, adamw>, cpu> full{seed(3)};
  auto const tensors = run.tensors();
  auto const names = full.tensors();
  REQUIRE(tensors.size() == names.size());
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    CHECK(tensors[k].name == names[k].name);
    CHECK(std::equal(tensors[k].data.begin(), tensors[k].data.end(),
                     names[k].data.begin()));  // and begin as the others do
  }
  auto const states = run.tensors(1);
  REQUIRE(states.size() == 3);
  CHECK(states[0].name == "shift");
  CHECK(run.elements(2).size() == static_cast<std::size_t>(layout<net<float>>::trained));
  CHECK(run.read(2).size() == run.elements(2).size());
  run(small::batch<float>(1));
  CHECK(states[1].data[0] != 0);
  run.reset_optimizer();
  for (int k : {1, 2})
    for (float x : run.elements(k)) REQUIRE(x == 0);
  executor<value_and_grad<loss<float>, net<float>>, cpu> own{run};
  CHECK_THROWS_WITH((executor<value_and_grad<loss<float>, net<float>>, cpu>{run, {.block = 1}}),
                    Catch::Contains("a state has no place"));
  auto const gradient = own(small::batch<float>(1)).gradient;
  CHECK(gradient.tensors().size() == 3);
  CHECK(gradient.size() == static_cast<std::size_t>(layout<net<float>>::trained));
  for (std::size_t i = 0; i < 5; ++i) CHECK(gradient.tensors()[0].data[i] != 0);
}
