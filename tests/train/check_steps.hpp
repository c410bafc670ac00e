// Steps of a small net on a backend against plain loops.
#pragma once

#include "../furthest.hpp"
#include "small_net.hpp"

#include <tx/run/executor.hpp>

#include <catch2/catch.hpp>

// 20 steps with a schedule, all tensors after each. clip 0: none; tensors before the first trained one stay as they
// are. layer_share: of its rate, what a tensor takes, where layer_decay is 1/2.
template <class Step, class Backend, class Plain>
void check_steps(Plain const& plain, float learning_rate, double clip, double tolerance,
                 std::size_t first_trained = 0, double (*layer_share)(std::size_t) = nullptr) {
  using namespace tx;
  using T = element_t<layout<typename Step::model>::type>;
  executor<Step, Backend> run{seed(3), {.threads = 2}};
  run.settings["learning_rate"] = learning_rate;
  run.settings.set("clip_norm", static_cast<float>(clip));
  run.settings.set("layer_decay", 0.5f);
  run.settings.schedule = {.shape = decay_shape::polynomial, .warmup = 3, .total = 15, .end = 0.125, .power = 2};
  small::plain_net net;
  std::vector<std::vector<values>> states;
  for (auto const& t : run.tensors()) {
    net.tensors.emplace_back(t.data.begin(), t.data.end());
    states.emplace_back(3, values(t.data.size()));
  }
  REQUIRE(net.tensors.size() == small::plain_net::unused + 1);
  std::vector<values> gradients;
  for (int t = 1; t <= 20; ++t) {
    auto const x = small::batch<T>(t);
    double const loss = net.loss(values(x.begin(), x.end()), gradients);
    double norm = 0;
    for (std::size_t k = first_trained; k < gradients.size(); ++k) norm = std::hypot(norm, length_of(gradients[k]));
    double const scale = clip > 0 ? std::min(1.0, clip / (norm + 1e-6)) : 1;
    double const done = std::min(1.0, (t - 4) / 12.0);
    double const share = t < 4 ? t / 3.0 : 0.125 + 0.875 * (1 - done) * (1 - done);
    for (std::size_t k = first_trained; k < net.tensors.size(); ++k) {
      for (double& g : gradients[k]) g *= scale;
      double const rate = static_cast<float>(static_cast<double>(learning_rate) * share * net.rate_of(k));
      double const of_rate = layer_share != nullptr ? layer_share(k) : 1;
      plain(plain_step{net.tensors[k], gradients[k], states[k], rate * of_rate, net.decay_of(k), t});
    }
    auto const r = run(x);
    CHECK(static_cast<double>(r.loss) == Approx(loss).epsilon(tolerance));
    if constexpr (requires { r.gradient_norm; })
      CHECK(static_cast<double>(r.gradient_norm) == Approx(norm).epsilon(tolerance));
    std::size_t k = 0;
    for (auto const& tensor : run.tensors()) {
      INFO("step " << t << ", " << tensor.name);
      CHECK(distance(values(tensor.data.begin(), tensor.data.end()), net.tensors[k++]) < tolerance);
    }
  }
}
