// A step for any number of ranks, started by mpirun: TwinBERT's parameters are those of one rank with all shards, bit for bit.
#include "../dist/small_twinbert.hpp"
#include "wrong.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/net/mpi.hpp>
#include <tx/dist/net/ranks.hpp>
#include <tx/nn/losses.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <cstring>

namespace {

using namespace small_twinbert;

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
    batch const b = batch_of(s, first, count);
    out.push_back(run(b.queries, b.documents, b.labels).loss);
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
