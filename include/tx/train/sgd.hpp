// sgd: gradient descent, weight decay as part of the gradient (0.01 unless said, where PyTorch has 0), with momentum m as PyTorch defines it: velocity = m velocity
// + gradient; the step is rate * velocity, or with Nesterov's (as in Sutskever et al., 2013) rate * (gradient + m
// velocity). Without momentum there is no state.
//
//   train_step<model, loss, sgd>
//   train_step<model, loss, sgd_with<sgd_options{.momentum = 0.9, .nesterov = true}>>
#pragma once

#include <tx/ops/sub.hpp>
#include <tx/train/optimizer.hpp>

namespace tx {

struct sgd_options {
  double momentum = 0;
  bool nesterov = false;
};

template <sgd_options Options>
struct sgd_with {
  static_assert(Options.momentum >= 0 && Options.momentum < 1, "tx::sgd_with: a momentum is at least 0 and below 1. FIX: 0.9, say, or 0 for none");
  static_assert(Options.momentum > 0 || !Options.nesterov,
                "tx::sgd_with: Nesterov's step needs a momentum. FIX: sgd_options{.momentum = 0.9, .nesterov = true}");
  static constexpr int states = Options.momentum > 0 ? 1 : 0;
  static std::string identity() {
    return states > 0 ? detail::identity_text("sgd", {{"momentum", Options.momentum}}) : "sgd";
  }
  static constexpr var update(update_context& u) {
    var direction = u.decayed_gradient();
    if constexpr (states > 0) {
      u.state[0] = u.state[0] * Options.momentum + direction;
      direction = Options.nesterov ? direction + u.state[0] * Options.momentum : u.state[0];
    }
    return u.parameter - direction * u.rate;
  }
};

struct sgd : sgd_with<sgd_options{}> {};

}  // namespace tx
