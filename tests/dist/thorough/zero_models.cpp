// Models of every kind on ranks that divide their parameters: a table that is tied, several types, a state, blocks of which the last is peeled.
#include "../divided.hpp"

#include <tx/nn/masked_lm.hpp>
#include <tx/ops/cross_entropy.hpp>

using namespace divided;

namespace {

struct small {
  static constexpr int layers = 4, hidden = 16, heads = 2, ffn = 24, vocabulary = 40, positions = 12, types = 2;
};
using language_model = nn::bert_masked_lm<small>;  // its table is also its last product's
constexpr int texts = 2, tokens = 12, masked = 4;
constexpr auto language_loss = [](language_model const& m, tensor<i32, masked> at, tensor<i32, texts, tokens> words, tensor<i32, masked> label) {
  return cross_entropy(m(at, words), label);
};
template <class... Options>
using language_step = train_step<language_model, language_loss, adamw, clip_gradient, Options...>;

template <class Step, class Communicator>
trained<float> language(Communicator& ranks) {
  executor<Step, distributed<cpu, Communicator>> run{seed(5), ranks, {.threads = 1}};
  constexpr int shards = Step::division.shards;
  run.settings["learning_rate"] = 0.01f;
  run.settings.set("clip_norm", 0.5f);
  trained<float> out;
  for (int s = 0; s < 4; ++s) {
    std::vector<i32> at, words, labels;
    for (int shard = ranks.rank() * shards; shard < (ranks.rank() + 1) * shards; ++shard) {
      for (int i = 0; i < masked; ++i) at.push_back(i * 5 + shard % 3), labels.push_back((shard * 7 + i * 3 + s) % 40);
      for (int i = 0; i < texts * tokens; ++i) words.push_back((i * 11 + shard * 17 + s) % 40);
    }
    out.told.push_back(static_cast<double>(run(at, words, labels).loss));
  }
  for (int k = 0; k < 3; ++k) out.blocks.push_back(run.read(k));
  return out;
}
template <class Step>
std::vector<trained<float>> language_on(int ranks) {
  return on_ranks(ranks, [](dist::local& rank) { return language<Step>(rank); });
}

}  // namespace

TEST_CASE("a BERT of four layers, whose table is tied") {
  dist::single alone;
  auto const one = language<language_step<virtual_shards<3>>>(alone);
  CHECK(one.told.front() != one.told.back());
  check_same<language_model>(language_on<language_step<data_parallel<3>, zero<3>>>(3), one, "zero<3>");
}

namespace {

// Behind what is trained lie halves, integers and a number that the step counts up.
struct mixed_types {
  param<tensor<bf16, 7, width>, init::normal<1, 2>, frozen> table;
  param<tensor<float, width, width>, init::normal<1, 4>> w;
  state<tensor<float, 3>> seen;
  repeat<3, block<float>, peel::last> body;
  param<tensor<i32, 5>, init::counted, frozen> places;
};
constexpr auto mixed_loss = [](mixed_types& m, tensor<float, rows, width> x) {
  m.seen.set(m.seen + 1.0f);
  auto const y = matmul(m.body(x + mean<0>(cast<float>(m.table)) + sum(cast<float>(m.places)) * 0.01f), m.w);
  return mean(y * y);
};
template <class... Options>
using mixed_step = train_step<mixed_types, mixed_loss, adamw, Options...>;

template <class Step, class Communicator>
trained<u8> mixed_trained(Communicator& ranks) {
  executor<Step, distributed<cpu, Communicator>> run{seed(5), ranks, {.threads = 1}};
  run.settings["learning_rate"] = 0.1f;
  constexpr int count = rows * Step::division.shards;
  trained<u8> out;
  for (int s = 0; s < 3; ++s) out.told.push_back(static_cast<double>(run(batch<float>(s, ranks.rank() * count, count)).loss));
  for (int k = 0; k < 3; ++k) out.blocks.push_back(run.read(k));
  // What was read is what is kept: written to another one it trains on alike.
  executor<Step, distributed<cpu, Communicator>> other{seed(6), ranks, {.threads = 1}};
  other.settings["learning_rate"] = 0.1f;
  for (int k = 0; k < 3; ++k) other.write(out.blocks[static_cast<std::size_t>(k)], k);
  other.restore(3, 5);
  auto const x = batch<float>(7, ranks.rank() * count, count);
  out.told.push_back(static_cast<double>(run(x).loss - other(x).loss));
  auto const first_of_state = [&] {
    auto copy = run.read();
    for (auto const& t : run.tensors_of(std::span(copy)))
      if (t.name == "seen") return static_cast<double>(t.template as<float>()[0]);
    return -1.0;
  };
  out.told.push_back(first_of_state());
  run.reset_state();
  out.told.push_back(first_of_state());
  return out;
}

}  // namespace

TEST_CASE("a model of several types, a state and blocks of which the last is peeled") {
  dist::single alone;
  auto const one = mixed_trained<mixed_step<virtual_shards<2>>>(alone);
  CHECK(one.told.front() != one.told[2]);
  CHECK(one.told[3] == 0);  // two losses alike
  CHECK(one.told[4] == 4);  // steps that were counted
  CHECK(one.told[5] == 0);
  auto const on = [&]<class... Options>() { return on_ranks(2, [](dist::local& rank) { return mixed_trained<mixed_step<data_parallel<2>, Options...>>(rank); }); };
  check_same<mixed_types>(on.operator()<zero<1>>(), one, "zero<1>");
  check_same<mixed_types>(on.operator()<zero<3>>(), one, "zero<3>");
}

namespace {

// Layers that are stacked by hand: of their own leading axis a scan takes one a step.
struct by_hand {
  param<tensor<float, 6, width, width>, init::normal<1, 4>> layers;
  constexpr auto operator()(auto const& x) const {
    return scan<6>([](auto const& h, auto const& w) { return tanh(matmul(h, w)); }, x, layers);
  }
};
struct stacked_by_hand {
  by_hand outer;
  repeat<2, by_hand> inner;
};
constexpr auto by_hand_loss = [](stacked_by_hand const& m, tensor<float, rows, width> x) {
  auto const y = m.inner(m.outer(x));
  return mean(y * y);
};
template <class... Options>
using by_hand_step = train_step<stacked_by_hand, by_hand_loss, adamw, Options...>;

}  // namespace

TEST_CASE("a scan over the rows that ranks divide") {
  auto const one = trained_alone<by_hand_step<virtual_shards<2>, clip_gradient>>();
  check_same<stacked_by_hand>(trained_on<by_hand_step<data_parallel<2>, zero<3>, clip_gradient>>(2), one, "zero<3>");
}
