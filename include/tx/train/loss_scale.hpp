// Products of f16 reach from 6e-8 to 65,504, and gradients are often smaller: they are those of a multiple of the loss, divided by that again in f32
// (Micikevicius et al., arXiv 1710.03740). A step whose gradients are not finite all the same changes no parameter and no state of the optimizer: it looks at
// their norm where it computes, and waits for nobody. bf16 needs none of that, as it reaches as far as f32 does.
//
//   before   gradients of the loss; parameters p', states s'
//   after    gradients of loss * scale, times 1 / scale, or 0 where they are not finite; where(norm < infinity, p', p), where(norm < infinity, s', s)
//
// The multiple is a state of the step, made where the step is: it begins as run.settings["loss_scale"], 65,536 at first; a step that is skipped halves it, down to 1, and
// run.settings["loss_scale_interval"] updates in a row that are not, 2,000 at first, double it, up to 2^24, as PyTorch's GradScaler has it
// (https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling). With an interval of 0 it is what the setting says in each run, and what was kept stays for later ones. A checkpoint has it.
//
// The norm is that of the multiple, divided by it: above 1.8e19 over the scale its squares leave the range of f32, and the step is skipped as if it were not finite.
// A power of two changes no bit of what does not leave the range. What parts of a batch and ranks add up, and send as halves perhaps, are gradients of the multiple: they
// are divided behind that. A skipped step counts as one, in schedules and in Adam's correction of its means too.
#pragma once

#include <tx/expr/setting.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/logical_not.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/where.hpp>
#include <tx/train/accumulate_runs.hpp>
#include <tx/train/gradients.hpp>

#include <limits>

namespace tx {

namespace detail {

inline constexpr double least_loss_scale = 1, most_loss_scale = 0x1p24;

constexpr bool is_loss_scale(float scale) { return scale > 0 && scale < std::numeric_limits<float>::infinity(); }
constexpr bool is_interval(float updates) { return updates >= 0; }
constexpr var first_loss_scale(graph& g) { return named_number(g, declared_setting{"loss_scale", 65536.0f, is_loss_scale, "a finite number above 0, best a power of two"}); }
constexpr var loss_scale_interval(graph& g) { return named_number(g, declared_setting{"loss_scale_interval", 2000.0f, is_interval, "a number of updates, or 0 for a scale that stays"}); }

// What a step keeps of it, in a state of its own kind: the scale, 0 before the first run, and how many updates in a row were made with it.
struct loss_scaling {
  int state;   // its number
  dtype type;  // of states

  constexpr var kept_scale(graph& g) const { return number(g, 0); }
  constexpr var kept_count(graph& g) const { return number(g, 1); }
  // Of this run, a scalar.
  constexpr var scale(graph& g) const {
    var const kept = kept_scale(g);
    return where(logical_and(less(0.0, loss_scale_interval(g)), less(0.0, kept)), kept, cast(first_loss_scale(g), type));
  }
  constexpr var unscaled(graph& g, var x) const {
    g.when = step_phase::update;
    return x * cast(1.0 / scale(g), x.type());
  }
  constexpr void unscale_gradients(graph& g) const {
    for_each_gradient(g, [&](var gradient, int) { return unscaled(g, gradient); });
  }
  // finite: were all gradients? Both numbers for the runs to come, where this one ends an update.
  constexpr void go_on(graph& g, var finite, place_among_runs const& place) const {
    g.when = step_phase::update;
    var const now = scale(g), count = kept_count(g) + 1.0, interval = cast(loss_scale_interval(g), type), changes = less(0.0, interval);
    var const grows = less(interval - 0.5, count);
    var const next = where(finite, where(logical_and(grows, less(now, most_loss_scale)), now * 2.0, now), where(less(least_loss_scale, now), now * 0.5, now));
    var const next_count = where(logical_and(finite, logical_not(grows)), count, 0.0);
    replace(g, kept_scale(g), place, where(changes, next, kept_scale(g)));
    replace(g, kept_count(g), place, where(changes, next_count, kept_count(g)));
  }

 private:
  constexpr var number(graph& g, int k) const { return emit_leaf(g, block_info, {type, shape{}}, of_block(1 + state, k)); }
  static constexpr void replace(graph& g, var leaf, place_among_runs const& place, var next) {
    g.outputs.push_back(output{changed_by_update(place, next, leaf).id, output_kind::assign, leaf.id});
  }
};

// Gradients are nothing where they are not finite: so no update is computed, and kept, before that is known.
constexpr void wait_for(graph& g, var finite) {
  for_each_gradient(g, [&](var gradient, int) { return where(finite, gradient, broadcast_to(constant(g, gradient.type(), 0), gradient.dims())); });
}
constexpr var is_finite(var norm) { return less(norm, std::numeric_limits<double>::infinity()); }

}  // namespace detail
}  // namespace tx
