// adamw: AdamW, Adam with decoupled weight decay (Loshchilov and Hutter, arXiv 1711.05101). States: mean, mean of squares.
//
//   train_step<model, loss, adamw>
//   train_step<model, loss, adamw_with<adam_options{.beta2 = 0.98}>>
#pragma once

#include <tx/train/moments.hpp>

namespace tx {

template <adam_options Options>
struct adamw_with {
  static constexpr int states = 2;
  static std::string identity() { return detail::moments_identity("adamw", Options); }
  static constexpr var update(update_context& u) {
    var const direction = detail::adam_direction(u, u.gradient, Options);
    return u.parameter - (direction + u.parameter * u.decay) * u.rate;
  }
};

struct adamw : adamw_with<adam_options{}> {};

}  // namespace tx
