// A backend that has no kernel for products.
// expect: tx: the backend has no kernel of this kind. FIX: specialise its kernel<
// expect somewhere: user::kernel<tx::exec::gemm<
#include <tx/backends/reference.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

namespace user {
template <class Signature>
struct kernel;
template <int Columns, class In, class Lets, class Outs>
struct kernel<tx::exec::fused<Columns, In, Lets, Outs>> : tx::reference::kernel<tx::exec::fused<Columns, In, Lets, Outs>> {};

struct backend : tx::reference {
  template <class Signature>
  using kernel = user::kernel<Signature>;
};
}  // namespace user

constexpr auto f = [](tx::tensor<float, 8, 4> x, tx::tensor<float, 4, 2> w) { return matmul(x, w); };
int main() {
  tx::executor<tx::function<f>, user::backend> run{};
  run(std::vector<float>(32), std::vector<float>(8));
}
