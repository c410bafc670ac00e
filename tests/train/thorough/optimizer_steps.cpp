// Compiled steps of other optimizers than AdamW against plain loops: states of any number, norms of whole tensors where
// gradients are used up at once, clipped, summed over parts and over shards, and the norm of the gradient as a result.
#include "../check_steps.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/train/averaged.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/rmsprop.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

namespace {

using namespace tx;

// Written outside of tx: LARS (You, Gitman and Ginsburg, arXiv 1708.03888), whose steps are as long as the tensor.
struct lars {
  static constexpr int states = 1;
  static constexpr bool whole_tensors = true;
  static constexpr var update(update_context& u) {
    var const local = u.norm(u.parameter) * 0.01 / (u.norm(u.gradient) + u.norm(u.parameter) * u.decay + 1e-3);
    u.state[0] = u.state[0] * 0.9 + u.decayed_gradient() * (local * u.rate);
    return u.parameter - u.state[0];
  }
};
void plain_lars(plain_step const& u) {
  values const g = plain_decayed(u);
  double const local = length_of(u.p) * 0.01 / (length_of(u.g) + length_of(u.p) * u.decay + 1e-3);
  each_element(u, [&](std::size_t i) {
    u.s[0][i] = 0.9 * u.s[0][i] + u.rate * local * g[i];
    u.p[i] -= u.s[0][i];
  });
}

template <class T, class Optimizer, peel Peel = peel::none, class... Options>
using step = train_step<small::net<T, Peel>, small::loss<T, Peel>, Optimizer, Options...>;
template <class Optimizer, class... Options>
using halves = train_step<small::net<double>, small::loss<double, peel::none, small::rows / 2>, Optimizer, Options...>;

}  // namespace

TEST_CASE("gradient descent keeps no state and counts its steps", "[optimizer]") {
  using plain = step<double, sgd, peel::none, gradient_norm>;
  static_assert(plain::memory.optimizer == 0);
  check_steps<plain, cpu>([](plain_step const& u) { plain_sgd(u, 0, false); }, 0.0625f, 0, 1e-11);
  executor<plain, cpu> run{seed(3)};
  run(small::batch<double>(1));
  CHECK(run.steps_run() == 1);  // of the parameters, which other programs share
  run.reset_optimizer();
  CHECK(run.steps_run() == 0);
}

TEST_CASE("RMSprop with momentum, f32", "[optimizer]") {
  check_steps<step<float, rmsprop_with<rmsprop_options{.alpha = 0.9, .momentum = 0.5}>>, cpu>(
      [](plain_step const& u) { plain_rmsprop(u, 0.9, 0.5, false); }, 0.002f, 0, 2e-4);
}

TEST_CASE("LAMB where gradients are used up at once", "[optimizer]") {
  check_steps<step<double, lamb, peel::none, gradient_norm>, cpu>(plain_lamb, 0.03125f, 0, 1e-10);
  check_steps<step<double, lamb, peel::last>, reference>(plain_lamb, 0.03125f, 0, 1e-10);
  check_steps<step<float, lamb>, cpu>(plain_lamb, 0.03125f, 0, 5e-4);
}

TEST_CASE("LAMB from flat gradients", "[optimizer]") {
  check_steps<step<double, lamb, peel::last, clip_gradient, gradient_norm>, cpu>(plain_lamb, 0.03125f, 0.5, 1e-10);
  check_steps<halves<lamb, accumulate<2>, clip_gradient, gradient_norm>, cpu>(plain_lamb, 0.03125f, 0.5, 1e-10);
  check_steps<halves<lamb, virtual_shards<2>, gradient_norm>, cpu>(plain_lamb, 0.03125f, 0, 1e-10);
}

TEST_CASE("an optimizer from outside the tree", "[optimizer]") {
  check_steps<step<double, lars>, cpu>(plain_lars, 0.5f, 0, 1e-10);
}

TEST_CASE("the average of the weights, to predict with and to save", "[optimizer]") {
  using smooth = averaged<sgd_with<sgd_options{.momentum = 0.75, .nesterov = true}>, average_options{.decay = 0.75}>;
  executor<step<double, smooth>, cpu> run{seed(3)};
  run.settings["learning_rate"] = 0.0625f;
  values average, x = small::batch<double>(9);
  for (int t = 1; t <= 20; ++t) {
    run(small::batch<double>(t));
    auto const now = run.elements();
    if (t == 1) average.assign(now.begin(), now.end());
    for (std::size_t i = 0; i < average.size(); ++i) average[i] = 0.75 * average[i] + 0.25 * now[i];
  }
  auto const kept = run.elements(smooth::block);
  CHECK(distance(values(kept.begin(), kept.end()), average) < 1e-13);

  using infer = function<small::loss<double>, small::net<double>>;
  executor<infer, cpu> with_weights{run}, with_average{run, {.block = smooth::block}};
  auto const predicted = [&](int block) {
    small::plain_net net;
    for (auto const& t : run.tensors(block)) net.tensors.emplace_back(t.data.begin(), t.data.end());
    std::vector<values> unused;
    return net.loss(x, unused);
  };
  CHECK(with_weights(x).value == Approx(predicted(0)).epsilon(1e-12));
  CHECK(with_average.elements().data() == run.elements(smooth::block).data());  // what it shows is what it predicts with
  CHECK(with_weights.elements().data() == run.elements().data());
  CHECK(with_average(x).value == Approx(predicted(smooth::block)).epsilon(1e-12));
  CHECK(predicted(0) != Approx(predicted(smooth::block)).epsilon(1e-6));
  CHECK_THROWS_WITH((executor<infer, cpu>{run, {.block = 3}}), Catch::Contains("there is no block 3"));
  CHECK_THROWS_WITH((executor<step<double, smooth>, cpu>{run, {.block = 1}}),
                    Catch::Contains("FIX: leave run_options::block out"));
}
