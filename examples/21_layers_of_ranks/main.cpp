// Four ranks: two stages with two of a model's four layers each, through which a batch goes in eight parts, and in each stage two ranks that divide its products. Here they are threads, as
// processes 19_ranks starts them. What each keeps of the parameters is told, and what they foretell together is what one foretells who is given all.
#include <tx/backends/cpu.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/dist/pipeline.hpp>
#include <tx/dist/tensor_parallel.hpp>
#include <tx/tx.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <span>
#include <vector>

constexpr int part_texts = 4, text_places = 6, net_width = 32, word_count = 50, batch_parts = 8;

// Nothing in it says that ranks have some of it.
struct layer {
  tx::nn::layer_norm<net_width> norm;
  tx::nn::linear<net_width, 4 * net_width> in;
  tx::nn::linear<4 * net_width, net_width> out;
  constexpr auto operator()(auto const& x) const { return x + out(tx::gelu(in(norm(x)))); }
};
struct net {
  tx::nn::embedding<word_count, net_width> words;
  tx::repeat<4, layer> layers;
  tx::nn::linear<net_width, word_count> head;
};
using ids = tx::tensor<tx::i32, part_texts, text_places>;  // of a part
constexpr auto foretell = [](net const& m, ids x) { return m.head(m.layers(m.words(x))); };
constexpr auto loss = [](net const& m, ids x, ids next) { return tx::cross_entropy(foretell(m, x), next); };

using step = tx::train_step<net, loss, tx::adamw, tx::accumulate<batch_parts>, tx::pipeline<2>, tx::tensor_parallel<2>>;
using scores = tx::function<foretell, net, tx::kept_as<step>>;
using backend = tx::distributed<tx::cpu, tx::dist::local>;

int main() try {
  std::vector<tx::i32> x, next;
  for (int t = 0; t < batch_parts * part_texts; ++t)
    for (int p = 0; p < text_places; ++p) {
      x.push_back((t * 3 + p * 7) % word_count);
      next.push_back((x.back() * 5 + 1) % word_count);
    }
  float first = 0, last = 0, apart = 0;
  tx::dist::local_group four(4);
  four.run([&](tx::dist::local& rank) {
    tx::executor<step, backend> run{tx::seed(0), rank, {.threads = 1}};  // else each computes with as many threads as there are processors
    for (int i = 0; i < 60; ++i) {
      float const told = run(x, next).loss;  // all are given the whole batch, and have the same loss
      if (rank.rank() == 0) (i == 0 ? first : last) = told;
    }
    tx::executor<scores, backend> score{run, {.threads = 1}};
    auto const part = std::span(x).first(part_texts * text_places);
    auto const& together = score(part).value;
    auto const all = run.read();  // of all ranks' parameters, on all of them
    if (rank.rank() != 0) return;
    tx::executor<tx::function<foretell, net>, tx::cpu> one{tx::seed(0), {.threads = 1}};
    one.write(all);
    auto const& alone = one(part).value;
    for (std::size_t k = 0; k < alone.size(); ++k) apart = std::max(apart, std::abs(together[k] - alone[k]));
  });
  std::printf("loss %.3f -> %.3f; each rank keeps %lld of %lld bytes of parameters; scores differ from one rank's by %.1e at most\n", static_cast<double>(first), static_cast<double>(last),
              static_cast<long long>(step::memory.parameters), static_cast<long long>(tx::function<foretell, net>::memory.parameters), static_cast<double>(apart));
  return last < first / 4 && apart < 1e-4f ? 0 : 1;
} catch (std::exception const& e) {
  std::fprintf(stderr, "21_layers_of_ranks: %s\n", e.what());
  return 1;
}
