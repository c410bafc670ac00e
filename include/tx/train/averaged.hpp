// averaged<Optimizer>: beside training, the exponential moving average of the weights (Polyak and Juditsky, 1992, with
// PyTorch's weights: it starts as the first update's parameters, then average = decay average + (1 - decay) parameter).
// It is the optimizer's last state, so a step with it needs one more block and reset_optimizer() starts it anew.
//
//   using optimizer = tx::averaged<tx::adamw>;
//   tx::executor<tx::train_step<model, loss, optimizer>, tx::cpu> run{tx::seed(0)};
//   tx::executor<tx::function<predict, model>, tx::cpu> infer{run, {.block = optimizer::block}};  // with the average
//   tx::io::save_parameters("average.safetensors", run.tensors(optimizer::block));
#pragma once

#include <tx/ops/less.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/where.hpp>
#include <tx/train/recorded_identity.hpp>

namespace tx {

struct average_options {
  double decay = 0.999;
};

template <class Optimizer, average_options Options = average_options{}>
struct averaged {
  static_assert(Options.decay >= 0 && Options.decay < 1, "tx::averaged: a decay is at least 0 and below 1. FIX: 0.999, say");
  static_assert(Optimizer::states < max_states,
                "tx::averaged: the optimizer has so many states that none is left for the average. FIX: average one with fewer states");
  static constexpr state_kinds states = state_kinds(Optimizer::states).and_one(per::element);
  static constexpr int block = states;  // of the average: run.tensors(block), run.elements(block)
  static constexpr bool whole_tensors = detail::sees_whole_tensors<Optimizer>;
  static std::string identity() {
    return detail::identity_text("averaged", {{"decay", Options.decay}}) + " of " +
           detail::optimizer_identity<Optimizer>();
  }
  static constexpr var update(update_context& u) {
    u.state.count = states - 1;  // the average is none of its states
    var const next = Optimizer::update(u);
    u.state.count = states;
    var& average = u.state[states - 1];
    var const share = where(less(u.step, 1.5), u.step, 1 - Options.decay);  // all of it in update 1
    average = average + (next - average) * share;
    return next;
  }
};

}  // namespace tx
