// An op on whole operands that says nothing about how it is computed.
// expect: tx: the op has no kernel. FIX: specialise tx::partitioned_rule
// expect somewhere: user::sort_info
#include <tx/backends/cpu.hpp>
#include <tx/ops/elementwise.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

namespace user {
inline constexpr tx::op_info sort_info{.name = "sort", .kind = tx::op_kind::whole, .arity = 1, .infer = tx::detail::same_infer};
struct sort_fn {
  constexpr tx::var operator()(tx::var x) const { return tx::emit(sort_info, {x}); }
};
template <tx::handle X>
constexpr auto sort(X const& x) {
  return tx::lift<sort_fn>(x);
}
}  // namespace user

constexpr auto f = [](tx::tensor<float, 8> x) { return user::sort(x); };
int main() {
  tx::executor<tx::function<f>, tx::cpu> run{};
  run(std::vector<float>(8));
}
