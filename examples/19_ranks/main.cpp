// Processes that train one model: mpirun -n 4 19_ranks, or torchrun's variables. Each has its share of every batch; started by itself it is one rank of one.
#include <tx/backends/cpu.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/net/ranks.hpp>
#include <tx/dist/net/sockets.hpp>
#include <tx/tx.hpp>

#include <cstdio>
#include <exception>
#include <vector>

struct net {
  tx::nn::linear<16, 32> hidden;
  tx::nn::linear<32, 4> out;
  constexpr auto operator()(auto const& x) const { return out(tx::gelu(hidden(x))); }
};

constexpr int texts = 24;  // of a rank
constexpr auto loss = [](net const& m, tx::tensor<float, texts, 16> x, tx::tensor<tx::i32, texts> y) { return tx::cross_entropy(m(x), y); };

using step = tx::train_step<net, loss, tx::adamw, tx::data_parallel<>>;  // gradients are averaged over as many ranks as there are
using communicator = tx::dist::ranks<tx::dist::sockets>;                 // or tx::dist::mpi, <tx/dist/net/mpi.hpp>

int main() try {
  tx::dist::sockets connections(tx::dist::launched());  // waits for all of them
  communicator all(connections);
  tx::executor<step, tx::distributed<tx::cpu, communicator>> run{tx::seed(0), all};

  float first = 0, last = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<float> x;
    std::vector<tx::i32> y;
    for (int t = all.rank() * texts; t < (all.rank() + 1) * texts; ++t) {  // this rank's of the whole batch
      y.push_back((t * 5 + i) % 4);
      for (int k = 0; k < 16; ++k) x.push_back(k % 4 == y.back() ? 1.0f : static_cast<float>((t * k + i) % 7) / 7);
    }
    last = run(x, y).loss;  // the mean over all ranks
    if (i == 0) first = last;
  }
  if (all.rank() == 0) std::printf("%d ranks: loss %.3f -> %.3f\n", all.size(), static_cast<double>(first), static_cast<double>(last));
  return last < first / 4 ? 0 : 1;
} catch (std::exception const& e) {
  std::fprintf(stderr, "19_ranks: %s\n", e.what());  // as "rank 2 has ended, or was killed: its connection is broken"
  return 1;
}
