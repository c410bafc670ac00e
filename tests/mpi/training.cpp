// Steps on ranks that mpirun starts, of any number of them and of two and three that divide gradients and parameters: TwinBERT's parameters are those of as many
// threads, bit for bit, and so of one rank with all shards (tests/dist/thorough).
#include "../dist/small_twinbert.hpp"
#include "wrong.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/local.hpp>
#include <tx/dist/net/mpi.hpp>
#include <tx/dist/net/ranks.hpp>
#include <tx/dist/net/same_on_all.hpp>
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

template <class Step, class Communicator>
std::vector<float> on_rank(Communicator& all) {
  tx::executor<Step, tx::distributed<tx::cpu, Communicator>> run{tx::seed(7), all, {.threads = 1}};
  return trained(run, all.rank() * pairs, pairs);
}

}  // namespace

int main() {
  tx::dist::mpi connections;
  tx::dist::ranks all(connections);
  wrong w{all.rank()};
  auto const own = on_rank<step<tx::data_parallel<>>>(all);
  w.unless(own[0] != own[29], "it did not train");
  auto const same = [&](std::vector<float> const& a, std::vector<float> const& b) { return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0; };
  if (all.rank() == 0) {
    tx::dist::local_group threads(all.size());
    threads.run([&](tx::dist::local& thread) {
      auto const there = on_rank<step<tx::data_parallel<>>>(thread);
      if (thread.rank() == 0) w.unless(same(own, there), "parameters are not those of as many threads");
    });
  }
  tx::dist::check_same(all, tx::sum_of_bytes(std::as_bytes(std::span(own))), "parameters");
  if (all.size() == 2) w.unless(same(own, on_rank<step<tx::data_parallel<2>, tx::zero<2>>>(all)), "parameters of zero<2> are not those without");
  if (all.size() == 3) w.unless(same(own, on_rank<step<tx::data_parallel<3>, tx::zero<3>>>(all)), "parameters of zero<3> are not those without");
  return w.count == 0 ? 0 : 1;
}
