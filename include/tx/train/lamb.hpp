// LAMB (You et al., arXiv 1904.00962, algorithm 2): Adam's direction with decoupled decay, scaled for each tensor so
// that the step is as long as the tensor times the rate. Blocks of a repeat are tensors each. Where either norm is zero
// the direction is not scaled. States: mean, mean of squares.
//
//   train_step<model, loss, lamb>
//   train_step<model, loss, lamb_with<adam_options{.epsilon = 1e-8}>>
#pragma once

#include <tx/ops/less.hpp>
#include <tx/ops/where.hpp>
#include <tx/train/moments.hpp>

namespace tx {

template <adam_options Options>
struct lamb_with {
  static constexpr int states = 2;
  static std::string identity() { return detail::moments_identity("lamb", Options); }
  static constexpr bool whole_tensors = true;
  static constexpr var update(update_context& u) {
    var const direction = detail::adam_direction(u, u.gradient, Options) + u.parameter * u.decay;
    var const length = u.norm(direction);
    var const wanted = u.norm(u.parameter);
    var const trust = where(less(0.0, wanted), where(less(0.0, length), wanted / length, 1.0), 1.0);
    return u.parameter - direction * (trust * u.rate);
  }
};

struct lamb : lamb_with<adam_options{.epsilon = 1e-6}> {};

}  // namespace tx
