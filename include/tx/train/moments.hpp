// Running means of the gradient and of its square, which start at zero and are corrected for it (Kingma and Ba, Adam,
// arXiv 1412.6980, algorithm 1).
#pragma once

#include <tx/core/math.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/expm1.hpp>
#include <tx/ops/neg.hpp>
#include <tx/ops/sub.hpp>
#include <tx/train/optimizer.hpp>

namespace tx {

struct adam_options {
  double beta1 = 0.9;    // share of the mean that stays
  double beta2 = 0.999;  // of the mean of squares
  double epsilon = 1e-8;
};

namespace detail {
// Mean over root of mean square; the means are states 0 and 1.
constexpr var adam_direction(update_context& u, var gradient, adam_options const& o) {
  if (!(o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1))
    throw invalid("adam_options: a beta is no share. FIX: beta1 and beta2 at least 0 and below 1");
  u.state[0] = u.state[0] * o.beta1 + gradient * (1 - o.beta1);
  u.state[1] = u.state[1] * o.beta2 + gradient * gradient * (1 - o.beta2);
  // 1 - beta^t, without the cancellation of small t
  var const correction1 = -expm1(u.step * math::log(o.beta1));
  var const correction2 = -expm1(u.step * math::log(o.beta2));
  return (u.state[0] / correction1) / (sqrt(u.state[1] / correction2) + o.epsilon);
}

TX_COLD inline std::string moments_identity(char const* name, adam_options const& o) {
  return identity_text(name, {{"beta1", o.beta1}, {"beta2", o.beta2}});
}
}  // namespace detail

}  // namespace tx
