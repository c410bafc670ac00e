// adam: Adam (Kingma and Ba, arXiv 1412.6980), weight decay as part of the gradient. States: mean, mean of squares.
//
//   train_step<model, loss, adam>
//   train_step<model, loss, adam_with<adam_options{.beta1 = 0.5}>>
#pragma once

#include <tx/train/moments.hpp>

namespace tx {

template <adam_options Options>
struct adam_with {
  static constexpr int states = 2;
  static std::string identity() { return detail::moments_identity("adam", Options); }
  static constexpr var update(update_context& u) {
    return u.parameter - detail::adam_direction(u, u.decayed_gradient(), Options) * u.rate;
  }
};

struct adam : adam_with<adam_options{}> {};

}  // namespace tx
