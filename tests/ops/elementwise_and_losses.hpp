// Elementwise ops, compositions and losses against PyTorch's values and gradients (tests/parity/ops.py), at ordinary
// and at awkward arguments.
#pragma once

#include "torch_groups.hpp"

#include <tx/ops/clamp.hpp>
#include <tx/ops/cos.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/elu.hpp>
#include <tx/ops/floor.hpp>
#include <tx/ops/greater.hpp>
#include <tx/ops/greater_equal.hpp>
#include <tx/ops/group_norm.hpp>
#include <tx/ops/huber.hpp>
#include <tx/ops/kl_div.hpp>
#include <tx/ops/leaky_relu.hpp>
#include <tx/ops/logical_or.hpp>
#include <tx/ops/logsumexp.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/mse.hpp>
#include <tx/ops/not_equal.hpp>
#include <tx/ops/one_hot.hpp>
#include <tx/ops/pow.hpp>
#include <tx/ops/reciprocal.hpp>
#include <tx/ops/relu.hpp>
#include <tx/ops/rms_norm.hpp>
#include <tx/ops/sign.hpp>
#include <tx/ops/silu.hpp>
#include <tx/ops/sin.hpp>
#include <tx/ops/softplus.hpp>
#include <tx/ops/square.hpp>
#include <tx/ops/triangle.hpp>
#include <tx/ops/variance.hpp>

namespace {

template <class T, auto... D>
using p = tx::param<tx::tensor<T, D...>>;
template <class T, auto... D>
using t = tx::tensor<T, D...>;

// ---- elementwise: members are named as in the file ------------------------------------------------------------------

template <class T>
struct elementwise {
  p<T, 3, 17> cube, root, fraction, nothing;
  p<T, 11, 1> base;
  p<T, 12> exponent;
  p<T, 3, 17> sin, cos, softplus, relu, leaky_relu, elu, silu, square, reciprocal, sign, floor, clamp;
};
template <class T>
struct elementwise_values {
  t<T> loss;
  t<T, 3, 17> cube, root, fraction, nothing;
  t<T, 11, 12> power;
  t<tx::i32, 11, 12> compared;
  t<T, 17, 3> sin;
  t<T, 3, 17> cos, softplus, relu, leaky_relu, elu, silu, square, reciprocal, sign, floor, clamp;
};
template <class T>
constexpr auto elementwise_loss = [](elementwise<T> const& m) {
  auto const bit = [](auto const& b, int value) { return tx::cast<tx::i32>(b) * value; };
  auto const compared = bit(tx::greater(m.base, m.exponent), 1) + bit(tx::greater_equal(m.base, m.exponent), 2) +
                        bit(tx::not_equal(m.base, m.exponent), 4) +
                        bit(tx::logical_or(tx::greater(m.base, 0), tx::less(0, m.exponent)), 8) +
                        bit(tx::logical_not(tx::less(m.base, m.exponent)), 16);
  elementwise_values<T> v{{},
                          tx::pow(m.cube, 3),
                          tx::pow(m.root, 0.7),
                          tx::pow(m.fraction, -1.5),
                          tx::pow(m.nothing, 0),
                          tx::pow(m.base, m.exponent),
                          compared,
                          tx::sin(tx::transpose(m.sin)),
                          tx::cos(m.cos),
                          tx::softplus(m.softplus),
                          tx::relu(m.relu),
                          tx::leaky_relu(m.leaky_relu, 0.2),
                          tx::elu(m.elu, 1.5),
                          tx::silu(m.silu),
                          tx::square(m.square),
                          tx::reciprocal(m.reciprocal),
                          tx::sign(m.sign),
                          tx::floor(m.floor),
                          tx::clamp(m.clamp, -1.2, 1.7)};
  v.loss = weighed(v.cube) + weighed(v.root) + weighed(v.fraction) + weighed(v.nothing) + weighed(v.power) +
           weighed(v.sin) + weighed(v.cos) + weighed(v.softplus) + weighed(v.relu) + weighed(v.leaky_relu) +
           weighed(v.elu) + weighed(v.silu) + weighed(v.square) + weighed(v.reciprocal) + weighed(v.sign) +
           weighed(v.floor) + weighed(v.clamp);
  return v;
};
std::vector<std::string> const elementwise_names{"cube", "root",   "fraction",   "nothing", "power",      "compared",
                                                 "sin",  "cos",    "softplus",   "relu",    "leaky_relu", "elu",
                                                 "silu", "square", "reciprocal", "sign",    "floor",      "clamp"};

// ---- reductions, normalisations, losses -----------------------------------------------------------------------------

template <class T>
struct losses {
  p<T, 4, 7> logsumexp;
  p<T, 3, 5, 2> logsumexp_outer;
  p<T, 5, 7> variance, spread;
  p<T, 3, 7> rms;
  p<T, 7> rms_scale;
  p<T, 2, 6, 5> group;
  p<T, 6> group_scale, group_shift;
  p<T, 4, 5> log_softmax;
  p<T, 6, 5> ignoring, weighted, smooth, everything, nll;
  p<T, 2, 4> mse, mse_target, huber, smooth_l1, kl_div;
  p<T, 4, 6> lower, upper;
};
template <class T>
struct losses_values {
  t<T> loss;
  t<T, 4, 1> logsumexp;
  t<T, 1, 5, 1> logsumexp_outer;
  t<T, 5, 1> variance;
  t<T, 1, 7> spread;
  t<T, 3, 7> rms_norm;
  t<T, 2, 6, 5> group_norm;
  t<T, 4, 5> log_softmax;
  t<T> ignoring, weighted, smooth, everything, nll;
  t<T, 6, 5> one_hot;
  t<T> mse;
  t<T, 2, 4> huber;
  t<T> smooth_l1, kl_div;
  t<T, 4, 6> lower, upper;
};
template <class T>
constexpr auto losses_loss =
    [](losses<T> const& m, t<tx::i32, 6> labels, t<T, 5> weights, t<T, 2, 4> target, t<T, 2, 4> probabilities) {
      constexpr tx::label_options ignoring{.ignore_index = -100};
      tx::per_class const by{weights};
      auto const known = tx::maximum(labels, 0);
      losses_values<T> v{
          {},
          tx::logsumexp<-1>(m.logsumexp),
          tx::logsumexp<0, 2>(m.logsumexp_outer),
          tx::variance<-1>(m.variance),
          tx::variance<0>(m.spread, 0),
          tx::rms_norm(m.rms, m.rms_scale, 1e-6),
          tx::group_norm<3>(m.group, m.group_scale, m.group_shift),
          tx::log_softmax(m.log_softmax),
          tx::cross_entropy(m.ignoring, labels, ignoring),
          tx::cross_entropy(m.weighted, labels, by, ignoring),
          tx::cross_entropy(m.smooth, known, tx::label_options{.label_smoothing = 0.2}),
          tx::cross_entropy(m.everything, labels, by, tx::label_options{.ignore_index = -100, .label_smoothing = 0.1}),
          tx::nll(m.nll, labels, by, ignoring),
          tx::one_hot<5, T>(known),
          tx::mse(m.mse, m.mse_target),
          tx::huber<tx::reduction::none>(m.huber, target, 0.75),
          tx::smooth_l1<tx::reduction::sum>(m.smooth_l1, target, 0.75),
          tx::kl_div<tx::reduction::batch_mean>(m.kl_div, probabilities),
          tx::tril<1>(m.lower),
          tx::triu<-1>(m.upper)};
      v.loss = weighed(v.logsumexp) + weighed(v.logsumexp_outer) * 2 + weighed(v.variance) + weighed(v.spread) +
               weighed(v.rms_norm) + weighed(v.group_norm) + weighed(v.log_softmax) + v.ignoring * 2 + v.weighted * 3 +
               v.smooth * 5 + v.everything * 7 + v.nll * 1.5 + v.mse + weighed(v.huber) + v.smooth_l1 + v.kl_div * 4 +
               weighed(v.lower) + weighed(v.upper);
      return v;
    };
std::vector<std::string> const losses_names{
    "logsumexp", "logsumexp_outer", "variance", "spread",     "rms_norm", "group_norm", "log_softmax",
    "ignoring",  "weighted",        "smooth",   "everything", "nll",      "one_hot",    "mse",
    "huber",     "smooth_l1",       "kl_div",   "lower",      "upper"};

torch_numbers const& file() {
  static torch_numbers const f{"ops"};
  return f;
}
template <class Backend, class T, tx::compile_options Options = tx::compile_options{}>
void check_elementwise(double tolerance) {
  check_group<Backend, T, elementwise<T>, elementwise_loss<T>, Options>(file(), "elementwise", elementwise_names, tolerance);
}
template <class Backend, class T, tx::compile_options Options = tx::compile_options{}>
void check_losses(double tolerance) {
  check_group<Backend, T, losses<T>, losses_loss<T>, Options>(
      file(), "losses", losses_names, tolerance, file().as<tx::i32>("losses.constant.labels"), file().as<T>("losses.constant.weights"),
      file().as<T>("losses.constant.target"), file().as<T>("losses.constant.probabilities"));
}

}  // namespace
