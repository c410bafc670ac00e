// accumulate_runs<N> beside accumulate<N> in double: parameters and states of every kind of optimizer, to the last digits.
#include "small_net.hpp"

#include <tx/backends/reference.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/novograd.hpp>
#include <tx/train/options.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

constexpr int runs = 3;

// Both steps from the same parameters, on the reference backend, which computes f64 in order: parameters and the optimizer's states.
template <class Few, class One>
void check_states_alike() {
  tx::executor<Few, tx::reference> few{tx::seed(11)};
  tx::executor<One, tx::reference> one{tx::seed(11)};
  few.settings["learning_rate"] = one.settings["learning_rate"] = 0.03f;
  for (int t = 0; t < 4 * runs; t += runs) {
    std::vector<double> all;
    for (int k = 0; k < runs; ++k) {
      auto const x = small::batch<double>(t + k);
      all.insert(all.end(), x.begin(), x.end());
      few(x);
    }
    one(all);
    for (int block = 0; block <= one.states(); ++block) {
      auto const x = few.read(block), y = one.read(block);
      REQUIRE(x.size() == y.size());
      for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == Approx(y[i]).epsilon(1e-12).margin(1e-14));
    }
    for (double sum : few.read(one.states() + 1)) CHECK(sum == 0);
  }
}
template <class Optimizer, tx::peel Peel, class... Options>
void check_peeled() {
  using namespace tx;
  check_states_alike<train_step<small::net<double, Peel>, small::loss<double, Peel>, Optimizer, accumulate_runs<runs>, Options...>,
                     train_step<small::net<double, Peel>, small::loss<double, Peel>, Optimizer, accumulate<runs>, Options...>>();
}
}  // namespace

TEST_CASE("sums over runs of peeled layers, with rates of layers, computed again, clipped, by optimizers of each kind") {
  check_peeled<tx::sgd_with<tx::sgd_options{.momentum = 0.5}>, tx::peel::last>();
  check_peeled<tx::adamw, tx::peel::last, tx::clip_gradient>();
  check_peeled<tx::adamw, tx::peel::last, tx::layer_decay<"shift">>();
  check_peeled<tx::adamw, tx::peel::none, tx::layer_decay<"shift">, tx::recompute<100'000>>();
  check_peeled<tx::novograd, tx::peel::none>();
}
