// lamb: LAMB (You et al., arXiv 1904.00962, algorithm 2): Adam's direction with decoupled decay, scaled for each tensor so
// that the step is as long as the tensor times the rate. Blocks of a repeat are tensors each. Where either norm is zero
// the direction is not scaled; without always_adapt also where decay is 0, as the recipes for BERT have it for biases and
// norms, which stay where they are else: a vector that begins near zero may only take steps as short as itself.
// States: mean, mean of squares.
//
//   train_step<model, loss, lamb>
//   train_step<model, loss, lamb_with<lamb_options{.always_adapt = false}>>
#pragma once

#include <tx/ops/less.hpp>
#include <tx/ops/where.hpp>
#include <tx/train/moments.hpp>

namespace tx {

struct lamb_options {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-6;
  bool always_adapt = true;  // false: a tensor whose decay is 0 takes Adam's steps
};

template <lamb_options Options>
struct lamb_with {
  static constexpr int states = 2;
  static std::string identity() { return detail::moments_identity("lamb", moments); }
  static constexpr bool whole_tensors = true;
  static constexpr var update(update_context& u) {
    var const direction = detail::adam_direction(u, u.gradient, moments) + u.parameter * u.decay;
    var const length = u.norm(direction);
    var const wanted = u.norm(u.parameter);
    var trust = where(less(0.0, wanted), where(less(0.0, length), wanted / length, 1.0), 1.0);
    if (!Options.always_adapt) trust = where(less(0.0, u.decay), trust, 1.0);
    return u.parameter - direction * (trust * u.rate);
  }

 private:
  static constexpr adam_options moments{.beta1 = Options.beta1, .beta2 = Options.beta2, .epsilon = Options.epsilon};
};

struct lamb : lamb_with<lamb_options{}> {};

}  // namespace tx
