// A guard where the host does not reach the numbers.
// expect: tx::finite_guard: the host does not reach this backend's memory. FIX: the same step on tx::cpu or tx::reference
#include <tx/backends/reference.hpp>
#include <tx/inspect/finite_guard.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/step/function.hpp>

struct device : tx::reference {
  static void clear(std::byte*, std::int64_t) {}
  static void upload(std::byte*, std::byte const*, std::int64_t) {}
  static void download(std::byte*, std::byte const*, std::int64_t) {}
};
using f = tx::function<[](tx::tensor<float, 4> x) { return tx::tanh(x); }>;

std::size_t const size = sizeof(tx::finite_guard<f, device>);
