// Portions of sums that are made of whole tensors.
// expect: tx::zero: adasum and layer_decay need whole tensors, of which a rank has portions. FIX:
#include <tx/backends/reference.hpp>
#include <tx/dist/adasum.hpp>
#include <tx/train/adamw.hpp>
#include <tx/dist/zero.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

struct net {
  tx::param<tx::tensor<float, 4, 4>> w;
};
constexpr auto loss = [](net const& m, tx::tensor<float, 4, 4> x) { return mean(m.w * x); };

int main() { static_cast<void>(tx::train_step<net, loss, tx::adamw, tx::data_parallel<2>, tx::zero<2>, tx::adasum>::memory); }
