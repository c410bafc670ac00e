// An op without a gradient between the loss and a parameter.
// expect: tx: an op between the loss and a parameter has no gradient. FIX:
// expect somewhere: user::round_info
#include <tx/ops/sum.hpp>
#include <tx/ops/elementwise.hpp>
#include <tx/train/step.hpp>

namespace user {
struct round_rule {
  template <class V>
  static constexpr V apply(V x) {
    return x;
  }
};
inline constexpr tx::op_info round_info = tx::elementwise_op<round_rule, 1>("round", nullptr);
template <tx::handle X>
constexpr auto round(X const& x) {
  return tx::lift_elementwise<&round_info>(x);
}
}  // namespace user
template <>
struct tx::scalar_rule<&user::round_info> {
  using type = user::round_rule;
};

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(user::round(m.w)); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
