// What kernels of a target cost, of which nobody has said what they do.
// expect: tx::costs_of: it does not know what kernels of this target do. FIX: include <tx/backends/cuda/kernel_cost.hpp>
#include <tx/backends/cuda/kernel_cost.hpp>
#include <tx/inspect/roofline.hpp>
#include <tx/ops/add.hpp>
#include <tx/step/function.hpp>

constexpr auto twice = [](tx::tensor<float, 4> x) { return x + x; };
auto const costs = tx::costs_of<tx::function<twice>, tx::cpu_target>(tx::h100);
