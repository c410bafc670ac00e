// An option of one's own that sets a copy.
// expect: tx::train_step: a type behind the optimizer is no option. FIX: those of train/options.hpp
#include <tx/ops/mean.hpp>
#include <tx/train/step.hpp>

struct model {
  tx::param<tx::tensor<float, 4>> w;
};
constexpr auto loss = [](model const& m, tx::tensor<float, 4> x) { return tx::mean(m.w * x); };
struct clipped {};
template <>
struct tx::step_option<clipped> {
  static constexpr void set(tx::step_options o) { o.clips = true; }
};
static_assert(tx::train_step<model, loss, tx::adamw, clipped>::memory.peak > 0);
