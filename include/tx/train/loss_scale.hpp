// Products of f16 reach from 6e-8 to 65,504, and gradients are often smaller: they are those of a multiple of the loss, divided by that again in f32
// (Micikevicius et al., arXiv 1710.03740). A step whose gradients are not finite all the same changes no parameter and no state of the optimizer: it looks at
// their norm where it computes, and waits for nobody. bf16 needs none of that, as it reaches as far as f32 does.
//
//   before   gradients of the loss; parameters p', states s'
//   after    gradients of loss * scale, times 1 / scale, or 0 where they are not finite; where(norm < infinity, p', p), where(norm < infinity, s', s)
//
// The multiple is run.settings["loss_scale"], 65,536 at first. A power of two changes no bit of what does not leave the range. What parts of a batch and ranks add up, and
// send as halves perhaps, are gradients of the multiple: they are divided behind that. A skipped step counts as one, in schedules and in Adam's correction of its means too.
#pragma once

#include <tx/expr/setting.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/where.hpp>
#include <tx/train/gradients.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

namespace tx {

namespace detail {

constexpr bool is_loss_scale(float scale) { return scale > 0 && scale < std::numeric_limits<float>::infinity(); }
constexpr var loss_scale_of(graph& g) { return named_number(g, declared_setting{"loss_scale", 65536.0f, is_loss_scale, "a finite number above 0, best a power of two"}); }

// Of loss * scale.
constexpr var unscaled(graph& g, var x) {
  g.when = step_phase::update;
  return x * cast(1.0 / loss_scale_of(g), x.type());
}
constexpr void unscale_gradients(graph& g) {
  for_each_gradient(g, [&](var gradient, int) { return unscaled(g, gradient); });
}
// Gradients are nothing where they are not finite: so no update is computed, and kept, before that is known.
constexpr void wait_for(graph& g, var finite) {
  for_each_gradient(g, [&](var gradient, int) { return where(finite, gradient, broadcast_to(constant(g, gradient.type(), 0), gradient.dims())); });
}
constexpr var is_finite(var norm) { return less(norm, std::numeric_limits<double>::infinity()); }

}  // namespace detail

namespace train {

// What a loop makes of "loss_scale" from step to step: half of it where a step was skipped, twice of it after so many that were not, as PyTorch's GradScaler does.
// https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
//
//   tx::train::loss_scaler scale;
//   auto const r = run(x, y);
//   if (!scale(run, r.gradient_norm)) ++skipped;
//
// With accumulate_runs<N> it is asked behind each N-th run alone, as the sum has the infinity of each of its runs; with runs that are started ahead, of results in their order.
struct loss_scaler {
  int interval = 2000;   // steps without a skipped one before it is doubled
  float least = 1, most = 0x1p24f;
  std::int64_t good = 0; // steps since it was changed: with the setting, all that a run that goes on from a checkpoint needs

  // Did the step that told this norm change anything?
  template <class Run>
  bool operator()(Run& run, double norm) {
    float const now = run.settings["loss_scale"];
    bool const changed = std::isfinite(norm);
    good = changed ? good + 1 : 0;
    if (!changed && now > least) run.settings["loss_scale"] = now / 2;
    if (good < interval) return changed;
    good = 0;
    if (now < most) run.settings["loss_scale"] = now * 2;
    return changed;
  }
};

}  // namespace train
}  // namespace tx
