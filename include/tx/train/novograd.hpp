// novograd: NovoGrad (Ginsburg et al., arXiv 1905.11286): gradients of a tensor by the root of a mean of their squared norms, and a mean of those with the decay.
// Blocks of a repeat are tensors each. States: the mean; the mean of squared norms, one number for each tensor.
//
//   train_step<model, loss, novograd>
//   train_step<model, loss, novograd_with<adam_options{.beta1 = 0.9, .beta2 = 0.25}>>
#pragma once

#include <tx/ops/less.hpp>
#include <tx/ops/where.hpp>
#include <tx/train/moments.hpp>

namespace tx {

template <adam_options Options>
struct novograd_with {
  static_assert(Options.beta1 >= 0 && Options.beta1 < 1 && Options.beta2 >= 0 && Options.beta2 < 1,
                "tx::novograd_with: a beta is no share. FIX: beta1 and beta2 at least 0 and below 1");
  static constexpr state_kinds states{per::element, per::tensor};
  static constexpr bool whole_tensors = true;
  static std::string identity() { return detail::moments_identity("novograd", Options); }
  static constexpr var update(update_context& u) {
    var const norm = u.norm(u.gradient), square = norm * norm;
    u.state[1] = where(less(u.step, 1.5), square, u.state[1] * Options.beta2 + square * (1 - Options.beta2));  // the first is the mean as it is
    u.state[0] = u.state[0] * Options.beta1 + (u.gradient / (sqrt(u.state[1]) + Options.epsilon) + u.parameter * u.decay);
    return u.parameter - u.state[0] * u.rate;
  }
};

struct novograd : novograd_with<adam_options{.beta1 = 0.95, .beta2 = 0.98, .epsilon = 1e-8}> {};

}  // namespace tx
