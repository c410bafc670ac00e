// rmsprop: RMSprop (Hinton, 2012, lecture 6 of Neural Networks for Machine Learning) as PyTorch defines it: weight decay as part
// of the gradient, epsilon outside the root. States: the mean of squares, then velocity and mean of the gradient where
// they are asked for.
//
//   train_step<model, loss, rmsprop>
//   train_step<model, loss, rmsprop_with<rmsprop_options{.momentum = 0.9}>>
#pragma once

#include <tx/ops/div.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/sub.hpp>
#include <tx/train/optimizer.hpp>

namespace tx {

struct rmsprop_options {
  double alpha = 0.99;  // share of the mean of squares that stays
  double momentum = 0;
  bool centered = false;  // divides by the root of the variance (Graves, arXiv 1308.0850)
  double epsilon = 1e-8;
};

template <rmsprop_options Options>
struct rmsprop_with {
  static_assert(Options.momentum >= 0 && Options.momentum < 1,
                "tx::rmsprop_with: a momentum is at least 0 and below 1. FIX: 0.9, say, or 0 for none");
  static constexpr int velocity = 1;
  static constexpr int mean = Options.momentum > 0 ? 2 : 1;
  static constexpr int states = mean + (Options.centered ? 1 : 0);
  static std::string identity() {
    return detail::identity_text(
        "rmsprop", {{"alpha", Options.alpha}, {"momentum", Options.momentum}, {"centered", Options.centered ? 1 : 0}});
  }
  static constexpr var update(update_context& u) {
    auto running = [](var old, var next) { return old * Options.alpha + next * (1 - Options.alpha); };
    var const gradient = u.decayed_gradient();
    u.state[0] = running(u.state[0], gradient * gradient);
    var spread = u.state[0];
    if constexpr (Options.centered) {
      u.state[mean] = running(u.state[mean], gradient);
      spread = maximum(spread - u.state[mean] * u.state[mean], 0.0);  // rounding may fall below
    }
    var direction = gradient / (sqrt(spread) + Options.epsilon);
    if constexpr (Options.momentum > 0)
      direction = u.state[velocity] = u.state[velocity] * Options.momentum + direction;
    return u.parameter - direction * u.rate;
  }
};

struct rmsprop : rmsprop_with<rmsprop_options{}> {};

}  // namespace tx
