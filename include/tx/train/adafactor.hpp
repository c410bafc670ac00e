// adafactor: Adafactor (Shazeer and Stern, arXiv 1804.04235, algorithms 4 and 5): gradients by the root of a mean of their squares, of which a tensor of two and
// more axes keeps one number for each row and one for each column, whose product over the rows' mean stands for the rest. A weight of 3,072 x 768
// has 3,840 numbers where Adam has 4.7 million. The mean starts with the first step's squares and moves ever more slowly. Updates of a tensor are
// scaled down to a root mean square of `clip`. Decay is decoupled, by rate and decay alone. Blocks of a repeat are tensors each.
// States: the rows' means, of a vector all its elements'; the columns'; if asked for, a mean of steps.
//
//   train_step<model, loss, adafactor>                                                     run.settings["learning_rate"] = 0.01f, the paper's
//   train_step<model, loss, adafactor_with<adafactor_options{.beta1 = 0.9, .relative = false}>>
#pragma once

#include <tx/ops/div.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/minimum.hpp>
#include <tx/ops/rsqrt.hpp>
#include <tx/ops/sub.hpp>
#include <tx/train/optimizer.hpp>

namespace tx {

struct adafactor_options {
  double power = 0.8;       // of means of squares, 1 - step^-power stays
  double epsilon1 = 1e-30;  // added to squares
  double epsilon2 = 1e-3;   // the least root mean square that a tensor is taken to have, where steps are relative
  double clip = 1;          // the largest root mean square of an update, before the rate; d in the paper
  double beta1 = 0;         // share of the mean of steps that stays; 0: there is none
  bool relative = true;     // steps are in proportion to a tensor's root mean square, and the rate is at most 1 / sqrt(step)
};

template <adafactor_options Options>
struct adafactor_with {
  static_assert(Options.beta1 >= 0 && Options.beta1 < 1, "tx::adafactor_with: beta1 is no share. FIX: at least 0 and below 1");
  static_assert(Options.power > 0 && Options.clip > 0 && Options.epsilon1 > 0 && Options.epsilon2 >= 0,
                "tx::adafactor_with: an option is out of its range. FIX: power, clip and epsilon1 above 0, epsilon2 at least 0");
  static constexpr state_kinds states = Options.beta1 > 0 ? state_kinds(per::row, per::column, per::element) : state_kinds(per::row, per::column);
  static constexpr bool whole_tensors = true;
  static std::string identity() {
    if constexpr (Options.beta1 == 0) return detail::identity_text("adafactor", {{"power", Options.power}, {"epsilon1", Options.epsilon1}});
    else  // a mean of steps depends on all that they do
      return detail::identity_text("adafactor", {{"power", Options.power},
                                                 {"epsilon1", Options.epsilon1},
                                                 {"epsilon2", Options.relative ? Options.epsilon2 : 0},
                                                 {"clip", Options.clip},
                                                 {"beta1", Options.beta1},
                                                 {"relative", Options.relative ? 1 : 0}});
  }
  static constexpr var update(update_context& u) {
    var const share = exp(log(u.step) * -Options.power);  // that the squares at hand take; all in the first step
    auto const moved = [&](var mean, var squares) { return mean * (1.0 - share) + (squares + Options.epsilon1) * share; };
    var const squares = u.gradient * u.gradient;
    var direction = u.gradient;
    if (u.own_rank >= 2) {
      u.state[0] = moved(u.state[0], u.mean(squares, -1));
      u.state[1] = moved(u.state[1], u.mean(squares, -2));
      direction = direction * rsqrt(u.state[0] / u.mean(u.state[0], -2)) * rsqrt(u.state[1]);  // no product of small numbers, which f32 has not
    } else {
      u.state[0] = moved(u.state[0], squares);
      direction = direction * rsqrt(u.state[0]);
    }
    var rate = u.rate;
    if constexpr (Options.relative) rate = minimum(rate, rsqrt(u.step)) * maximum(u.rms(u.parameter), Options.epsilon2);
    var step = direction * (rate / maximum(u.rms(direction) * (1 / Options.clip), 1.0));
    if constexpr (Options.beta1 > 0) step = u.state[2] = u.state[2] * Options.beta1 + step * (1 - Options.beta1);
    return u.parameter - (step + u.parameter * (u.decay * u.rate));
  }
};

struct adafactor : adafactor_with<adafactor_options{}> {};

}  // namespace tx
