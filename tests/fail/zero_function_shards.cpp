// Shards of a batch, of a program that has none.
// expect: tx::function: an option is of training. FIX: mixed<half>, compiled_with<options> and tensor_parallel<N>, or data_parallel<N> and zero<3>
#include <tx/backends/reference.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/zero.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>

struct net {
  tx::param<tx::tensor<float, 4, 4>> w;
};
constexpr auto score = [](net const& m, tx::tensor<float, 4, 4> x) { return mean(m.w * x); };

int main() { static_cast<void>(tx::function<score, net, tx::data_parallel<2>, tx::zero<3>, tx::virtual_shards<2>>::memory); }
