// lion: Lion (Chen et al., Symbolic Discovery of Optimization Algorithms, arXiv 2302.06675, algorithm 2): the sign of a mean of gradients, with decoupled
// decay. Rates are a third to a tenth of Adam's, decay as much larger. State: the mean.
//
//   train_step<model, loss, lion>
//   train_step<model, loss, lion_with<lion_options{.beta1 = 0.95, .beta2 = 0.98}>>
#pragma once

#include <tx/ops/sign.hpp>
#include <tx/ops/sub.hpp>
#include <tx/train/optimizer.hpp>

namespace tx {

struct lion_options {
  double beta1 = 0.9;   // share of the mean in the direction, beside the gradient
  double beta2 = 0.99;  // share of the mean that stays
};

template <lion_options Options>
struct lion_with {
  static_assert(Options.beta1 >= 0 && Options.beta1 < 1 && Options.beta2 >= 0 && Options.beta2 < 1,
                "tx::lion_with: a beta is no share. FIX: beta1 and beta2 at least 0 and below 1");
  static constexpr int states = 1;
  static std::string identity() { return detail::identity_text("lion", {{"beta2", Options.beta2}}); }
  static constexpr var update(update_context& u) {
    var const mean = u.state[0];
    u.state[0] = mean * Options.beta2 + u.gradient * (1 - Options.beta2);
    var const direction = sign(mean * Options.beta1 + u.gradient * (1 - Options.beta1));
    return u.parameter - (direction + u.parameter * u.decay) * u.rate;
  }
};

struct lion : lion_with<lion_options{}> {};

}  // namespace tx
