// A gradient rule that sums what it should not.
// expect: a gradient rule gave a gradient of another shape or type than its input. FIX:
// expect somewhere: accumulate(0
#include <tx/ops/elementwise.hpp>
#include <tx/ops/sum.hpp>
#include <tx/train/step.hpp>

namespace user {
struct twice_rule {
  template <class V>
  static constexpr V apply(V x) {
    return x + x;
  }
};
constexpr void twice_vjp(tx::vjp_context& c) { c.accumulate(0, tx::sum_all(c.gradient)); }
inline constexpr tx::op_info twice_info = tx::elementwise_op<twice_rule, 1>("twice", twice_vjp);
template <tx::handle X>
constexpr auto twice(X const& x) {
  return tx::lift_elementwise<&twice_info>(x);
}
}  // namespace user
template <>
struct tx::scalar_rule<&user::twice_info> {
  using type = user::twice_rule;
};

struct model {
  tx::param<tx::tensor<float, 8>> w;
};
constexpr auto loss = [](model const& m) { return tx::sum(user::twice(m.w) * m.w); };
using step = tx::train_step<model, loss, tx::adamw>;
static_assert(step::memory.peak > 0);
