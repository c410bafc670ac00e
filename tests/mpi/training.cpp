// A step for any number of ranks, started by mpirun: TwinBERT's parameters are those of one rank with all shards, bit for bit.
#include "wrong.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/net/mpi.hpp>
#include <tx/dist/net/ranks.hpp>
#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <cstring>

namespace {

struct config : tx::nn::twinbert_config {
  static constexpr int layers = 2;
  static constexpr int hidden = 20;
  static constexpr int heads = 2;
  static constexpr int ffn = 28;
  static constexpr int vocabulary = 40;
  static constexpr int query_words = 3;
  static constexpr int document_words = 5;
  using input = tx::nn::wordpiece;
  using pooler = tx::nn::weighted_pooler;
  using crossing = tx::nn::residual;
};
using model = tx::nn::twinbert<config>;

constexpr int pairs = 3;  // of a shard
constexpr auto loss = [](auto const& m, tx::nn::query_ids<config, pairs> q, tx::nn::document_ids<config, pairs> d, tx::tensor<float, pairs> label) {
  return tx::nn::logistic_loss(m(q, d), label);
};
template <class... Division>
using step = tx::train_step<model, loss, tx::adamw, tx::clip_gradient, Division...>;

std::vector<float> trained(auto& run, int first, int count) {
  run.settings.set("dropout", 0.2f);
  run.settings.set("clip_norm", 0.3f);
  run.settings["learning_rate"] = 1e-2f;
  std::vector<float> out;
  for (int s = 0; s < 30; ++s) {
    std::vector<int> queries, documents;
    std::vector<float> labels;
    for (int r = first; r < first + count; ++r) {
      for (int w = 0; w < config::query_words; ++w) queries.push_back(w > r % 3 ? 0 : 1 + (s * 11 + r * 7 + w * 13) % 39);
      for (int w = 0; w < config::document_words; ++w) documents.push_back(w > r % 5 ? 0 : 1 + (s * 5 + r * 3 + w * 17) % 39);
      labels.push_back(r % 2 == 0 ? 1.0f : 0.0f);
    }
    out.push_back(run(queries, documents, labels).loss);
  }
  for (int k = 0; k < 3; ++k) {
    auto const all = run.read(k);
    out.insert(out.end(), all.begin(), all.end());
  }
  return out;
}

template <int Shards>
std::vector<float> on_one() {
  tx::executor<step<tx::virtual_shards<Shards>>, tx::cpu> run{tx::seed(7), {.threads = 1}};
  return trained(run, 0, pairs * Shards);
}

}  // namespace

int main() {
  tx::dist::mpi connections;
  tx::dist::ranks all(connections);
  wrong w{all.rank()};
  tx::executor<step<tx::data_parallel<>>, tx::distributed<tx::cpu, tx::dist::ranks<tx::dist::mpi>>> run{tx::seed(7), all, {.threads = 1}};
  auto const own = trained(run, all.rank() * pairs, pairs);
  auto const one = all.size() == 1 ? on_one<1>() : all.size() == 2 ? on_one<2>() : all.size() == 3 ? on_one<3>() : on_one<4>();
  w.unless(own.size() == one.size() && std::memcmp(own.data(), one.data(), one.size() * sizeof(float)) == 0, "parameters are not those of one rank with all shards");
  w.unless(own[0] != own[29], "it did not train");
  return w.count == 0 ? 0 : 1;
}
