// Portions for an optimizer that keeps a number for each tensor.
// expect: tx::zero: the optimizer keeps a state per row, column or tensor, of which a rank has portions. FIX:
#include <tx/backends/reference.hpp>
#include <tx/train/novograd.hpp>
#include <tx/dist/zero.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

struct net {
  tx::param<tx::tensor<float, 4, 4>> w;
};
constexpr auto loss = [](net const& m, tx::tensor<float, 4, 4> x) { return mean(m.w * x); };

int main() { static_cast<void>(tx::train_step<net, loss, tx::novograd, tx::data_parallel<2>, tx::zero<1>>::memory); }
