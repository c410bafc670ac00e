// Two ranks that compute one batch together, each a part of the products: here threads, as processes 19_ranks starts them. What each keeps of the parameters is told.
#include <tx/backends/cpu.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/dist/tensor_parallel.hpp>
#include <tx/tx.hpp>

#include <cstdio>
#include <exception>
#include <vector>

constexpr int texts = 16, places = 8, width = 32, classes = 4;

// Nothing in it says that ranks divide it.
struct layer {
  tx::nn::layer_norm<width> before_attention, before_feed;
  tx::nn::multi_head_attention<width, 4> attention;
  tx::nn::linear<width, 4 * width> in;
  tx::nn::linear<4 * width, width> out;
  constexpr auto operator()(auto const& x) const {
    auto const y = x + attention(before_attention(x));
    return y + out(tx::gelu(in(before_feed(y))));
  }
};
struct net {
  tx::repeat<2, layer> layers;
  tx::nn::linear<width, classes> head;
};
using words = tx::tensor<float, texts, places, width>;
constexpr auto foretell = [](net const& m, words x) { return m.head(tx::reshape<texts, width>(tx::slice<1, 0, 1>(m.layers(x)))); };
constexpr auto loss = [](net const& m, words x, tx::tensor<tx::i32, texts> y) { return tx::cross_entropy(foretell(m, x), y); };

using step = tx::train_step<net, loss, tx::adamw, tx::tensor_parallel<2>>;  // two ranks, with half the heads and columns each
using scores = tx::function<foretell, net, tx::kept_as<step>>;             // of the same parameters, of which each rank has a part
using backend = tx::distributed<tx::cpu, tx::dist::local>;

int main() try {
  std::vector<float> x;
  std::vector<tx::i32> y;
  for (int t = 0; t < texts; ++t) {
    y.push_back(t % classes);
    for (int i = 0; i < places * width; ++i) x.push_back(i % classes == y.back() ? 1.0f : static_cast<float>((t * i) % 7) / 7);
  }
  int right = 0;
  tx::dist::local_group two(2);
  two.run([&](tx::dist::local& rank) {
    tx::executor<step, backend> run{tx::seed(0), rank, {.threads = 1}};
    float first = 0, last = 0;
    for (int i = 0; i < 60; ++i) {
      last = run(x, y).loss;  // the same on both
      if (i == 0) first = last;
    }
    tx::executor<scores, backend> score{run, {.threads = 1}};
    auto const& told = score(x).value;
    if (rank.rank() != 0) return;
    for (int t = 0; t < texts; ++t) {
      int best = 0;
      for (int c = 1; c < classes; ++c)
        if (told[t * classes + c] > told[t * classes + best]) best = c;
      right += best == y[static_cast<std::size_t>(t)];
    }
    std::printf("loss %.3f -> %.3f; %d of %d right; each rank keeps %lld of %lld bytes of parameters\n", static_cast<double>(first), static_cast<double>(last), right, texts,
                static_cast<long long>(step::memory.parameters), static_cast<long long>(tx::function<foretell, net>::memory.parameters));
  });
  return right == texts ? 0 : 1;
} catch (std::exception const& e) {
  std::fprintf(stderr, "20_parts_of_products: %s\n", e.what());
  return 1;
}
