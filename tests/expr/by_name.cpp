// Parameters chosen by name: what is frozen, what is trained at a rate of its own, and that names and first values stay as they were.
#include <tx/backends/cpu.hpp>
#include <tx/expr/by_name.hpp>
#include <tx/expr/group_of.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/nn/embedding.hpp>
#include <tx/nn/layer_norm.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/sgd.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

namespace {

using tx::nn::linear;
constexpr int width = 32;
struct embeddings {
  tx::nn::embedding<20, width> words;
  tx::nn::layer_norm<width> norm;
};
struct attention {
  linear<width, width> query, value;
};
struct block {
  attention self;
  linear<width, width> output;
  constexpr auto operator()(auto const& x) const { return x + output(tx::tanh(self.query(x)) * self.value(x)); }
};
struct encoder {
  tx::repeat<3, block> layer;
};
struct network {
  struct body {
    struct embeddings embeddings;
    struct encoder encoder;
  };
  tx::named_module<"bert", body> text;
  linear<width, 2> classifier;

  constexpr auto operator()(auto const& ids) const {  // [batch, words]
    auto const& m = text.body;
    return classifier(tx::reshape<-1, width>(tx::mean<1>(m.encoder.layer(m.embeddings.norm(m.embeddings.words(ids))))));
  }
};
using held = tx::frozen_where<network, "bert.embeddings.*", "bert.encoder.layer.*.self.*">;
using tuned = tx::trained_where<network, "classifier.*", "*.bias">;
using slow = tx::rate_where<network, std::ratio<1, 4>, "bert.embeddings.*">;

constexpr auto loss = [](auto const& m, tx::tensor<tx::i32, 4, 6> ids, tx::tensor<tx::i32, 4> labels) { return tx::cross_entropy(m(ids), labels); };
template <class Model, class Optimizer = tx::adamw, class... Options>
using step = tx::train_step<Model, loss, Optimizer, Options...>;

struct batch {
  std::vector<tx::i32> ids, labels{0, 1, 1, 0};
  batch() {
    for (int i = 0; i < 24; ++i) ids.push_back(1 + i * 7 % 19);
  }
};
template <class Model>
std::set<std::string> trained_names() {
  std::set<std::string> out;
  for (auto const& v : tx::parameters_of<Model>())
    if (v.trained) out.insert(v.name);
  return out;
}
template <class Run>
std::vector<std::vector<float>> copies(Run const& run) {
  std::vector<std::vector<float>> out;
  for (auto const& t : run.tensors()) out.emplace_back(t.data.begin(), t.data.end());
  return out;
}

// Neither gradient nor state of what is frozen is in the plan.
constexpr std::int64_t trained_bytes(auto const& entries, auto trains) {
  std::int64_t sum = 0;
  for (auto const& e : entries)
    if (trains(e)) sum += e.info.bytes();
  return sum;
}
template <class Model>
constexpr std::int64_t bytes_of = trained_bytes(tx::layout<Model>::entries, [](auto const& e) { return tx::layout<Model>::trains(e); });
static_assert(bytes_of<tuned> < bytes_of<network> / 4);
static_assert(step<tuned>::memory.optimizer == 2 * tx::layout<tuned>::trained * 4 && step<tuned>::memory.optimizer < step<network>::memory.optimizer / 2);
static_assert(step<held>::memory.optimizer < step<network>::memory.optimizer);
static_assert(step<tuned, tx::adamw, tx::clip_gradient>::memory.gradients < step<network, tx::adamw, tx::clip_gradient>::memory.gradients / 2);

static_assert(tx::group_of<slow, "bert.embeddings.words.weight"> != tx::group_of<slow, "classifier.weight">);
static_assert(tx::group_of<slow, "bert.encoder.layer.*.self.*.weight"> == tx::group_of<slow, "classifier.weight">);
static_assert(tx::layout<slow>::groups[static_cast<int>(tx::group_of<slow, "bert.embeddings.norm.*">)].rate == 0.25f);
static_assert(tx::layout<slow>::groups[static_cast<int>(tx::group_of<slow, "bert.embeddings.norm.*">)].decay == 0);

}  // namespace

TEST_CASE("what a pattern of names matches is frozen", "[by_name]") {
  auto const names = trained_names<held>();
  for (auto const& v : tx::parameters_of<network>()) {
    bool const frozen = v.name.starts_with("bert.embeddings.") || v.name.find(".self.") != std::string::npos;
    CHECK(names.contains(v.name) == !frozen);
  }
  tx::executor<step<held>, tx::cpu> run{tx::seed(1)};
  tx::executor<step<network>, tx::cpu> full{tx::seed(1)};
  auto const tensors = run.tensors(), all = full.tensors();
  REQUIRE(tensors.size() == all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    CHECK(tensors[k].name == all[k].name);
    CHECK(std::ranges::equal(tensors[k].data, all[k].data));
  }
  auto const before = copies(run);
  batch const b;
  for (int i = 0; i < 3; ++i) run(b.ids, b.labels);
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    INFO(tensors[k].name);
    CHECK(std::ranges::equal(tensors[k].data, before[k]) == !names.contains(tensors[k].name));
  }
  CHECK(run.tensors(1).size() == names.size());
}

TEST_CASE("nothing but what a pattern of names matches is trained", "[by_name]") {
  auto const names = trained_names<tuned>();
  for (auto const& v : tx::parameters_of<network>()) CHECK(names.contains(v.name) == (v.name.starts_with("classifier.") || v.name.ends_with(".bias")));
  tx::executor<tx::value_and_grad<loss, tuned>, tx::cpu> run{tx::seed(1)};
  tx::executor<tx::value_and_grad<loss, network>, tx::cpu> full{tx::seed(1)};
  batch const b;
  auto const some = run(b.ids, b.labels);
  auto const all = full(b.ids, b.labels);
  CHECK(some.value == Approx(all.value));
  CHECK(some.gradient.tensors().size() == names.size());
  for (auto const& t : some.gradient.tensors())
    for (auto const& of_all : all.gradient.tensors())
      if (of_all.name == t.name)
        for (std::size_t i = 0; i < t.data.size(); ++i) CHECK(t.data[i] == Approx(of_all.data[i]).margin(1e-7));
}

TEST_CASE("a rate by name is a factor of its group's, and may be changed", "[by_name]") {
  using plain_step = step<network, tx::sgd>;
  tx::executor<step<slow, tx::sgd>, tx::cpu> run{tx::seed(1)};
  tx::executor<plain_step, tx::cpu> full{tx::seed(1)};
  run.settings["learning_rate"] = full.settings["learning_rate"] = 0.5f;
  run.settings.groups[tx::group_of<slow, "bert.embeddings.words.weight">].decay = 0.01f;
  auto const before = copies(run);
  batch const b;
  run(b.ids, b.labels);
  full(b.ids, b.labels);
  auto const tensors = run.tensors(), all = full.tensors();
  for (std::size_t k = 0; k < all.size(); ++k) {
    float const factor = tensors[k].name.starts_with("bert.embeddings.") ? 0.25f : 1.0f;
    for (std::size_t i = 0; i < all[k].data.size(); ++i)
      REQUIRE(tensors[k].data[i] - before[k][i] == Approx(factor * (all[k].data[i] - before[k][i])).margin(1e-6));
  }
}

TEST_CASE("patterns that stand around each other add up", "[by_name]") {
  using both = tx::frozen_where<tx::rate_where<network, std::ratio<2>, "classifier.*">, "bert.*">;
  CHECK(trained_names<both>() == std::set<std::string>{"classifier.weight", "classifier.bias"});
  CHECK(tx::layout<both>::groups[static_cast<int>(tx::group_of<both, "classifier.weight">)].rate == 2);
}
