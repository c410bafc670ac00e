// adagrad: Adagrad (Duchi, Hazan and Singer, 2011), weight decay as part of the gradient; rate decay as PyTorch defines it.
// State: the sum of squared gradients, without what it starts from.
//
//   train_step<model, loss, adagrad>
//   train_step<model, loss, adagrad_with<adagrad_options{.start = 0.1}>>
#pragma once

#include <tx/ops/div.hpp>
#include <tx/ops/sub.hpp>
#include <tx/train/optimizer.hpp>

namespace tx {

struct adagrad_options {
  double rate_decay = 0;  // the rate of step t is divided by 1 + rate_decay (t - 1)
  double start = 0;       // of the sum of squares
  double epsilon = 1e-10;
};

template <adagrad_options Options>
struct adagrad_with {
  static_assert(Options.rate_decay >= 0 && Options.start >= 0, "tx::adagrad_with: rate_decay and start are at least 0. FIX: 0 for none");
  static constexpr int states = 1;
  static std::string identity() { return "adagrad"; }
  static constexpr var update(update_context& u) {
    var const gradient = u.decayed_gradient();
    u.state[0] = u.state[0] + gradient * gradient;
    var const rate = u.rate / ((u.step - 1.0) * Options.rate_decay + 1.0);
    return u.parameter - gradient / (sqrt(u.state[0] + Options.start) + Options.epsilon) * rate;
  }
};

struct adagrad : adagrad_with<adagrad_options{}> {};

}  // namespace tx
