// Hidden states beside logits, of each family; and a student with a teacher of other sizes in one step.
#include <tx/backends/reference.hpp>
#include <tx/expr/inference.hpp>
#include <tx/nn/distilbert.hpp>
#include <tx/nn/distillation.hpp>
#include <tx/nn/electra.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/text/packed_batch.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

template <class T, auto... Dims>
using t = tx::tensor<T, Dims...>;

struct large {
  static constexpr int layers = 4, hidden = 12, heads = 3, ffn = 20, vocabulary = 11, positions = 8, types = 1;
};
struct small {
  static constexpr int layers = 2, hidden = 8, heads = 2, ffn = 12, vocabulary = 11, positions = 8, types = 1;
};
struct typeless : small {
  static constexpr int types = 0;
};
struct pair_of_networks {
  tx::nn::bert_classifier<small, 3> student;
  tx::frozen_module<tx::nn::bert_classifier<large, 3>> teacher;
  tx::nn::hidden_projection<8, 12> projection;
};
using tokens = t<tx::i32, tx::dyn<16>>;
using offsets = t<tx::i32, 4>;
constexpr auto distil = [](pair_of_networks const& m, tokens ids, tokens positions, offsets o) {
  auto const taught = tx::inference([&](auto const&... x) { return m.teacher.body.packed_with_states<6>(x...); })(ids, positions, o);
  auto const own = m.student.packed_with_states<6>(ids, positions, o);
  return tx::nn::distillation_loss(own.logits, taught.logits, tx::setting<"temperature">(own.logits, 2.0)) +
         tx::nn::hidden_state_loss(m.projection(own.hidden_states), taught.hidden_states);
};
using step = tx::train_step<pair_of_networks, distil, tx::adamw>;

// The logits twice, and the last layer's hidden states of both ways to them.
template <class Network>
constexpr auto told = [](Network const& m, tokens ids, tokens positions, offsets o) {
  auto const all = m.template packed_with_states<6>(ids, positions, o);
  return std::tuple{m.template packed<6>(ids, positions, o), all.logits, all.hidden_states};
};

tx::text::packed_batch<3, 6, 16> texts() {
  tx::text::packed_batch<3, 6, 16> b;
  for (auto const& text : {std::vector<tx::i32>{1, 2, 3, 4, 5, 6}, std::vector<tx::i32>{7, 8}, std::vector<tx::i32>{9, 10, 1}}) b.add(text);
  return b;
}

template <class Network>
void check_states() {
  auto const b = texts();
  tx::executor<tx::function<told<Network>, Network>, tx::reference> run{tx::seed(3)};
  auto const r = run(b.ids, b.positions, b.offsets);
  auto const& [alone, logits, states] = r;
  REQUIRE(alone.size() == logits.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(alone.size()); ++i) CHECK(alone.begin()[i] == Approx(logits.begin()[i]).margin(1e-6));
  CHECK(states.extent(0) == 2);
  CHECK(states.extent(1) == 11);
  CHECK(states.extent(2) == 8);
}

}  // namespace

TEST_CASE("hidden states beside logits change nothing about them", "[distillation]") {
  check_states<tx::nn::sequence_classifier<tx::nn::bert_family, small, 3>>();
  check_states<tx::nn::sequence_classifier<tx::nn::distilbert_family, typeless, 3>>();
  check_states<tx::nn::sequence_classifier<tx::nn::electra_family, small, 3>>();
}

TEST_CASE("a teacher in a step has neither gradient nor states, and its student comes nearer", "[distillation]") {
  auto const b = texts();
  tx::executor<step, tx::reference> run{tx::seed(1)};
  for (auto const& moment : run.tensors(1)) CHECK_FALSE(moment.name.starts_with("teacher."));
  CHECK(run.tensors(1).size() < run.tensors().size());
  run.settings["dropout"] = 0;
  run.settings["learning_rate"] = 0.01f;
  float const first = run(b.ids, b.positions, b.offsets).loss;
  float last = first;
  for (int i = 0; i < 60; ++i) last = run(b.ids, b.positions, b.offsets).loss;
  CHECK(last < 0.3f * first);
}
