// An op on all ranks that says nothing about how it is computed.
// expect: tx: the op has no kernel. FIX: specialise tx::exec::collective_rule
// expect somewhere: user::shift_info
#include <tx/backends/reference.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/single.hpp>
#include <tx/ops/elementwise.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

namespace user {
inline constexpr tx::op_info shift_info{.name = "shift", .kind = tx::op_kind::collective, .arity = 1, .infer = tx::detail::same_infer};
struct shift_fn {
  constexpr tx::var operator()(tx::var x) const { return tx::emit(shift_info, {x}); }
};
}  // namespace user

constexpr auto f = [](tx::tensor<float, 8> x) { return tx::lift<user::shift_fn>(x); };
int main() {
  tx::dist::single one;
  tx::executor<tx::function<f>, tx::distributed<tx::reference, tx::dist::single>> run{tx::seed(0), one};
  run(std::vector<float>(8));
}
