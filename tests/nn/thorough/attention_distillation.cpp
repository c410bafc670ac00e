// What the last layer's attention is computed from beside logits and hidden states, of each family; and a student of another width and depth that learns it.
#include <tx/backends/reference.hpp>
#include <tx/expr/inference.hpp>
#include <tx/nn/attention_distillation.hpp>
#include <tx/nn/distilbert.hpp>
#include <tx/nn/electra.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/abs.hpp>
#include <tx/ops/max.hpp>
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
  static constexpr int layers = 3, hidden = 12, heads = 2, ffn = 20, vocabulary = 11, positions = 8, types = 1;
};
struct small {
  static constexpr int layers = 2, hidden = 8, heads = 2, ffn = 12, vocabulary = 11, positions = 8, types = 1;
};
struct typeless : small {
  static constexpr int types = 0;
};
struct shallow : small {
  static constexpr int layers = 1;
};
using tokens = t<tx::i32, tx::dyn<16>>;
using offsets = t<tx::i32, 4>;

// The logits of all ways to them, hidden states of two, and queries, keys and values twice.
template <class Network>
constexpr auto told = [](Network const& m, tokens ids, tokens positions, offsets o) {
  auto const all = m.template packed_with_states<6>(ids, positions, o);
  auto const more = m.template packed_with_attention<6>(ids, positions, o);
  return std::tuple{all.logits, more.logits, all.hidden_states, more.hidden_states, more.attention.queries, more.attention.keys, more.attention.values};
};
// Of BERT: the projections of what the layer before the last gave.
using network = tx::nn::bert_classifier<small, 3>;
constexpr auto projected = [](network const& m, tokens ids, tokens positions, offsets o) {
  auto const all = m.packed_with_attention<6>(ids, positions, o);
  auto const before = tx::reshape<tx::dyn<16>, 8>(tx::slice<0, 0, 1>(all.hidden_states));
  auto const self = m.encoder.body.encoder.layer.last().attention.self;
  auto const furthest = [](auto const& a, auto const& b) { return tx::max(tx::abs(a - b)); };
  return std::tuple{furthest(self.query(before), all.attention.queries), furthest(self.key(before), all.attention.keys), furthest(self.value(before), all.attention.values),
                    furthest(all.attention.queries, all.attention.keys)};
};

tx::text::packed_batch<3, 6, 16> texts() {
  tx::text::packed_batch<3, 6, 16> b;
  for (auto const& text : {std::vector<tx::i32>{1, 2, 3, 4, 5, 6}, std::vector<tx::i32>{7, 8}, std::vector<tx::i32>{9, 10, 1}}) b.add(text);
  return b;
}

void check_equal(auto const& a, auto const& b) {
  REQUIRE(a.size() == b.size());
  REQUIRE(a.size() > 0);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-6));
}
template <class Network>
void check_told() {
  auto const b = texts();
  tx::executor<tx::function<told<Network>, Network>, tx::reference> run{tx::seed(3)};
  auto const r = run(b.ids, b.positions, b.offsets);
  auto const& [logits, same_logits, states, same_states, queries, keys, values] = r;
  check_equal(logits, same_logits);
  check_equal(states, same_states);
  for (auto const* x : {&queries, &keys, &values}) {
    CHECK(x->extent(0) == 11);
    CHECK(x->extent(1) == 8);
  }
}

struct pair_of_networks {
  network student;
  tx::frozen_module<tx::nn::bert_classifier<large, 3>> teacher;
};
constexpr auto distil = [](pair_of_networks const& m, tokens ids, tokens positions, offsets o) {
  auto const taught = tx::inference([&](auto const&... x) { return m.teacher.body.packed_with_attention<6>(x...); })(ids, positions, o);
  auto const own = m.student.packed_with_attention<6>(ids, positions, o);
  return tx::nn::self_attention_loss(own.attention, taught.attention, tx::nn::texts_at<6>(o));
};
using step = tx::train_step<pair_of_networks, distil, tx::adamw>;

}  // namespace

TEST_CASE("what attention is computed from changes nothing about logits and hidden states", "[distillation]") {
  check_told<network>();
  check_told<tx::nn::bert_classifier<shallow, 3>>();
  check_told<tx::nn::sequence_classifier<tx::nn::distilbert_family, typeless, 3>>();
  check_told<tx::nn::sequence_classifier<tx::nn::electra_family, small, 3>>();
}

TEST_CASE("queries, keys and values are projections of what the layer before the last gave", "[distillation]") {
  auto const b = texts();
  tx::executor<tx::function<projected, network>, tx::reference> run{tx::seed(3)};
  auto const r = run(b.ids, b.positions, b.offsets);
  auto const& [queries, keys, values, apart] = r;
  CHECK(queries[0] < 1e-6f);
  CHECK(keys[0] < 1e-6f);
  CHECK(values[0] < 1e-6f);
  CHECK(apart[0] > 1e-3f);
}

TEST_CASE("a student of another width and depth comes nearer to its teacher's attention", "[distillation]") {
  auto const b = texts();
  tx::executor<step, tx::reference> run{tx::seed(1)};
  for (auto const& t : run.tensors())  // as far from equal probabilities as trained networks are
    if (t.name.find("attention.self") != t.name.npos)
      for (float& x : t.data) x *= t.name.starts_with("teacher.") ? 60.0f : 10.0f;
  run.settings["dropout"] = 0;
  run.settings["learning_rate"] = 0.01f;
  float const first = run(b.ids, b.positions, b.offsets).loss;
  float last = first;
  for (int i = 0; i < 100; ++i) last = run(b.ids, b.positions, b.offsets).loss;
  CHECK(first > 0.05f);
  CHECK(last < 0.3f * first);
}
