// TwinBERT on ranks that divide gradients and parameters: the bits of one rank with all shards.
#include "../divided.hpp"
#include "../small_twinbert.hpp"

#include <tx/nn/losses.hpp>

using namespace divided;

namespace {

using small_twinbert::config;
using small_twinbert::model;

constexpr int pairs = 4, ranks = 3;  // of a shard; of all three
constexpr auto pair_loss = [](model const& m, nn::query_ids<config, pairs> q, nn::document_ids<config, pairs> d, tensor<float, pairs> label) {
  return nn::logistic_loss(m(q, d), label);
};
template <class... Division>
using twin = train_step<model, pair_loss, adamw, clip_gradient, Division...>;

template <class Step, class Communicator>
trained<float> twin_trained(Communicator& all) {
  executor<Step, distributed<cpu, Communicator>> run{seed(7), all, {.threads = 1}};
  run.settings.set("dropout", 0.2f);
  run.settings.set("clip_norm", 0.3f);
  run.settings["learning_rate"] = 1e-2f;
  constexpr int count = pairs * Step::division.shards;
  trained<float> out;
  for (int s = 0; s < 30; ++s) {
    auto const b = small_twinbert::batch_of(s, all.rank() * count, count);
    out.told.push_back(static_cast<double>(run(b.queries, b.documents, b.labels).loss));
  }
  for (int k = 0; k < 3; ++k) out.blocks.push_back(run.read(k));
  return out;
}

}  // namespace

TEST_CASE("thirty steps of TwinBERT, with each of the stages that divide more than states") {
  dist::single alone;
  auto const one = twin_trained<twin<virtual_shards<ranks>>>(alone);
  CHECK(one.told.front() != one.told.back());
  check_same<model>(on_ranks(ranks, [](dist::local& rank) { return twin_trained<twin<data_parallel<ranks>, zero<2>>>(rank); }), one, "zero<2>");
  check_same<model>(on_ranks(ranks, [](dist::local& rank) { return twin_trained<twin<data_parallel<ranks>, zero<3>>>(rank); }), one, "zero<3>");
}
