// TwinBERT's two towers, and a classifier with a layer a rank, go through ranks that have some of the layers each.
#include "../pipelined.hpp"
#include "../small_twinbert.hpp"

#include <tx/nn/losses.hpp>
#include <tx/nn/sequence_classifier.hpp>

using namespace divided;

namespace {

constexpr auto loss_of_twins = [](small_twinbert::model const& m, nn::query_ids<small_twinbert::config, 4> q, nn::document_ids<small_twinbert::config, 4> d, tensor<float, 4> labels) {
  return nn::logistic_loss(m(q, d), labels);
};
template <class... Options>
using twins = train_step<small_twinbert::model, loss_of_twins, adamw, accumulate<3>, Options...>;

// Losses of 30 steps, and then all parameters.
template <class Run>
std::vector<float> trained_twins(Run& run) {
  run.settings.set("dropout", 0.2f);
  std::vector<float> told;
  for (int s = 0; s < 30; ++s) {
    auto const b = small_twinbert::batch_of(s, 0, 12);
    told.push_back(run(b.queries, b.documents, b.labels).loss);
  }
  auto const all = run.read();
  told.insert(told.end(), all.begin(), all.end());
  return told;
}

struct config {
  static constexpr int layers = 4, hidden = 16, heads = 2, ffn = 24, vocabulary = 30, positions = 8, types = 2;
};
constexpr auto loss_of_classes = [](nn::bert_classifier<config, 2, nn::bert_pooler<config>> const& m, tensor<i32, 2, 6> ids, tensor<i32, 2> labels) { return cross_entropy(m(ids), labels); };
template <class... Options>
using classes = train_step<nn::bert_classifier<config, 2, nn::bert_pooler<config>>, loss_of_classes, adamw, accumulate<4>, Options...>;
template <class Run>
std::vector<float> trained_classes(Run& run) {
  std::vector<float> told;
  for (int s = 0; s < 30; ++s) {
    std::vector<int> ids, labels;
    for (int i = 0; i < 8 * 6; ++i) ids.push_back(1 + (i * 7 + s * 3) % 29);
    for (int i = 0; i < 8; ++i) labels.push_back((i + s) % 2);
    told.push_back(run(ids, labels).loss);
  }
  auto const all = run.read();
  told.insert(told.end(), all.begin(), all.end());
  return told;
}

template <class Whole, class Step, class Train>
void check_ranks(int ranks, Train const& train) {
  CAPTURE(ranks);
  executor<Whole, cpu> alone{seed(3), {.threads = 1}};
  auto const one = train(alone);
  auto const both = [&] {
    return on_ranks(ranks, [&](dist::local& rank) {
      executor<Step, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
      return train(run);
    });
  };
  auto const all = both();
  for (auto const& of_rank : all) CHECK(of_rank == all[0]);
  CHECK(both() == all);
  check_near(all[0], one, 1e-5, 1e-5);
}

}  // namespace

TEST_CASE("TwinBERT's towers, whose layers are the same, go through two ranks side by side") {
  check_ranks<twins<>, twins<pipeline<2>>>(2, [](auto& run) { return trained_twins(run); });
}

TEST_CASE("a classifier of four layers goes through four ranks, of which the last has the layer behind the repeat alone") {
  check_ranks<classes<>, classes<pipeline<4>>>(4, [](auto& run) { return trained_classes(run); });
}
