// An op that says nothing about how it is computed.
// expect: tx: the op has no kernel. FIX: specialise tx::scalar_rule
// expect somewhere: user::cube_info
#include <tx/backends/reference.hpp>
#include <tx/ops/elementwise.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

namespace user {
inline constexpr tx::op_info cube_info{.name = "cube", .kind = tx::op_kind::elementwise, .arity = 1, .infer = tx::detail::same_infer};
template <tx::handle X>
constexpr auto cube(X const& x) {
  return tx::lift_elementwise<&cube_info>(x);
}
}  // namespace user

constexpr auto f = [](tx::tensor<float, 8> x) { return user::cube(x); };
int main() {
  tx::executor<tx::function<f>, tx::reference> run{tx::seed(0)};
  run(std::vector<float>(8));
}
