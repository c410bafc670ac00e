// An option of ranks, of a step without.
// expect: tx::train_step: an option says how ranks add gradients, and there are no ranks. FIX: tx::data_parallel<> beside it
#include <tx/backends/reference.hpp>
#include <tx/dist/adasum.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>

struct net {
  tx::param<tx::tensor<float, 4>> w;
};
constexpr auto loss = [](net const& m, tx::tensor<float, 4> x) { return mean(m.w * x); };

int main() { tx::executor<tx::train_step<net, loss, tx::sgd, tx::adasum>, tx::reference> run{tx::seed(0)}; }
