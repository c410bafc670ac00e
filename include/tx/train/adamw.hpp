// AdamW: Adam with decoupled weight decay (Loshchilov and Hutter, arXiv 1711.05101).
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/expm1.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/sub.hpp>

namespace tx {

// What an optimizer sees of a tensor; state[] is replaced by its next value.
struct update_context {
  var parameter;
  var gradient;
  var state[4];
  var rate;   // scalar
  var decay;  // scalar
  var step;   // scalar, 1 in the first step
};

struct adamw {
  static constexpr int states = 2;
  static constexpr double beta1 = 0.9;
  static constexpr double beta2 = 0.999;
  static constexpr double epsilon = 1e-8;

  static constexpr var update(update_context& u) {
    u.state[0] = u.state[0] * beta1 + u.gradient * (1 - beta1);
    u.state[1] = u.state[1] * beta2 + u.gradient * u.gradient * (1 - beta2);
    // 1 - beta^t, without the cancellation of small t
    var const correction1 = -expm1(u.step * math::log(beta1));
    var const correction2 = -expm1(u.step * math::log(beta2));
    var const direction = (u.state[0] / correction1) / (sqrt(u.state[1] / correction2) + epsilon);
    return u.parameter - (direction + u.parameter * u.decay) * u.rate;
  }
};

}  // namespace tx
