// Packed texts give what padded ones give, and padding is not computed.
#include <tx/backends/cpu.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/text/packed_batch.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

namespace {

struct tiny {
  static constexpr int layers = 3, hidden = 24, heads = 2, ffn = 40, vocabulary = 50, positions = 16, types = 2;
};
using model = tx::nn::bert_classifier<tiny, 3>;
constexpr int texts = 4, longest = 12, tokens = 28;
using per_token = tx::tensor<tx::i32, tx::dyn<tokens>>;
using begins = tx::tensor<tx::i32, texts + 1>;
using padded_ids = tx::tensor<tx::i32, texts, longest>;
using labels = tx::tensor<tx::i32, texts>;

constexpr auto packed_logits = [](model const& m, per_token ids, per_token positions, begins offsets) {
  return m.packed<longest>(ids, positions, offsets);
};
constexpr auto padded_logits = [](model const& m, padded_ids ids, padded_ids mask) { return m(ids, mask); };
constexpr auto packed_loss = [](model const& m, per_token ids, per_token positions, begins offsets, labels label) {
  return tx::cross_entropy(m.packed<longest>(ids, positions, offsets), label);
};
constexpr auto padded_loss = [](model const& m, padded_ids ids, padded_ids mask, labels label) { return tx::cross_entropy(m(ids, mask), label); };

using batch = tx::text::packed_batch<texts, longest, tokens>;

struct both {
  batch packed;
  std::vector<tx::i32> ids = std::vector<tx::i32>(texts * longest), mask = std::vector<tx::i32>(texts * longest);
  std::vector<tx::i32> label{0, 2, 1, 1};

  both() {
    std::size_t row = 0;
    for (std::size_t length : {5u, 12u, 1u, 7u}) {
      std::vector<tx::i32> text(length);
      for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<tx::i32>((row * 17 + i * 5) % 50);
      REQUIRE(packed.add(text));
      std::copy(text.begin(), text.end(), ids.begin() + static_cast<std::ptrdiff_t>(row * longest));
      std::fill_n(mask.begin() + static_cast<std::ptrdiff_t>(row * longest), length, 1);
      ++row;
    }
  }
};

}  // namespace

TEST_CASE("packed texts have the logits of padded ones", "[packed]") {
  both const b;
  tx::executor<tx::function<packed_logits, model>, tx::cpu> packed{tx::seed(4)};
  tx::executor<tx::function<padded_logits, model>, tx::cpu> padded{tx::seed(4)};
  auto const got = packed(b.packed.ids, b.packed.positions, b.packed.offsets);
  auto const want = padded(b.ids, b.mask);
  REQUIRE(got.value.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) CHECK(got.value[i] == Approx(want.value[i]).margin(1e-6));
}

TEST_CASE("packed texts train as padded ones", "[packed]") {
  both const b;
  tx::executor<tx::train_step<model, packed_loss, tx::adamw>, tx::cpu> packed{tx::seed(4)};
  tx::executor<tx::train_step<model, padded_loss, tx::adamw>, tx::cpu> padded{tx::seed(4)};
  packed.settings.set("dropout", 0);
  padded.settings.set("dropout", 0);
  float first = 0, last = 0;
  for (int i = 0; i < 8; ++i) {
    last = packed(b.packed.ids, b.packed.positions, b.packed.offsets, b.label).loss;
    CHECK(last == Approx(float(padded(b.ids, b.mask, b.label).loss)).margin(1e-4));
    if (i == 0) first = last;
  }
  CHECK(last < first);
}

namespace {
constexpr auto weighed_loss = [](model const& m, per_token ids, per_token positions, begins offsets, labels label,
                                 tx::tensor<float, texts> weight) { return tx::cross_entropy(m.packed<longest>(ids, positions, offsets), label, weight); };
constexpr auto two_loss = [](model const& m, tx::tensor<tx::i32, 2, longest> ids, tx::tensor<tx::i32, 2, longest> mask, tx::tensor<tx::i32, 2> label) {
  return tx::cross_entropy(m(ids, mask), label);
};
template <class Step>
int random_nodes() {
  tx::graph g{};
  Step::record(g);
  int n = 0;
  for (int i = 0; i < g.size(); ++i) n += g[i].op == &tx::random_info && g[i].when == tx::step_phase::forward ? 1 : 0;
  return n;
}
// Of forward products with weights; attention's own are of batches.
template <class Step>
std::int64_t product_flops() {
  tx::graph g{};
  Step::record(g);
  std::int64_t sum = 0;
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op->kind == tx::op_kind::product && g[i].when == tx::step_phase::forward && g.info(i).dims.rank == 2)
      sum += 2 * g.info(i).count() * g.info(g.input(i, 0)).dims.last() * g.runs_of(g[i].region);
  return sum;
}
}  // namespace

TEST_CASE("places for texts that are not there change nothing", "[packed]") {
  both const b;
  batch two;
  for (std::size_t row : {0u, 1u}) {
    std::vector<tx::i32> text;
    for (std::size_t i = row * longest; i < (row + 1) * longest; ++i)
      if (b.mask[i]) text.push_back(b.ids[i]);
    REQUIRE(two.add(text));
  }
  tx::executor<tx::train_step<model, weighed_loss, tx::adamw>, tx::cpu> packed{tx::seed(4)};
  tx::executor<tx::train_step<model, two_loss, tx::adamw>, tx::cpu> padded{tx::seed(4)};
  packed.settings.set("dropout", 0);
  padded.settings.set("dropout", 0);
  std::vector<float> const weight{1, 1, 0, 0};
  auto const first = [](auto const& v, std::size_t n) { return std::span(v).first(n); };
  for (int i = 0; i < 3; ++i) {
    float const got = packed(two.ids, two.positions, two.offsets, b.label, weight).loss;
    float const want = padded(first(b.ids, 2 * longest), first(b.mask, 2 * longest), first(b.label, 2)).loss;
    CHECK(got == Approx(want).margin(1e-4));
  }
  auto const moments = packed.elements(1), wanted = padded.elements(1);
  float most = 0;
  for (float m : wanted) most = std::max(most, std::abs(m));
  REQUIRE(most > 1e-4f);
  for (std::size_t i = 0; i < wanted.size(); ++i) REQUIRE(moments[i] == Approx(wanted[i]).margin(1e-3 * most));
}

TEST_CASE("packed texts drop out where padded ones do, and padding is not computed", "[packed]") {
  using packed = tx::train_step<model, packed_loss, tx::adamw>;
  using padded = tx::train_step<model, padded_loss, tx::adamw>;
  CHECK(random_nodes<packed>() == random_nodes<padded>());
  CHECK(random_nodes<packed>() == 1 + 3 + 3 + 1);
  CHECK(product_flops<packed>() * 5 < product_flops<padded>() * 4);  // 28 tokens in 48 places
}

TEST_CASE("a batch has room for so many texts and tokens", "[packed]") {
  tx::text::packed_batch<3, 4, 7> b;
  std::vector<tx::i32> const four{1, 2, 3, 4}, three{5, 6, 7}, none, five(5);
  CHECK_THROWS_AS(b.add(five), tx::value_error);
  CHECK(b.add(four));
  CHECK_FALSE(b.add(four));
  CHECK(b.add(three));
  CHECK(b.add(none));
  CHECK_FALSE(b.add(none));
  CHECK(b.texts() == 3);
  CHECK(b.tokens() == 7);
  CHECK(b.ids == std::vector<tx::i32>{1, 2, 3, 4, 5, 6, 7});
  CHECK(b.positions == std::vector<tx::i32>{0, 1, 2, 3, 0, 1, 2});
  CHECK(b.offsets == std::vector<tx::i32>{0, 4, 7, 7});
  b.clear();
  CHECK(b.add(three));
  CHECK(b.offsets == std::vector<tx::i32>{0, 3, 3, 3});
}
