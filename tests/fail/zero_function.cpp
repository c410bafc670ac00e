// A program that scores, of a number of ranks that is not known.
// expect: zero<3>: ranks divide parameters among them, and how many there are is not known. FIX: data_parallel<N> beside it
#include <tx/backends/reference.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/zero.hpp>
#include <tx/ops/mean.hpp>
#include <tx/run/executor.hpp>

struct net {
  tx::param<tx::tensor<float, 4, 4>> w;
};
constexpr auto score = [](net const& m, tx::tensor<float, 4, 4> x) { return mean(m.w * x); };

int main() { static_cast<void>(tx::function<score, net, tx::data_parallel<>, tx::zero<3>>::memory); }
