// Packed texts that attend to tokens of others, as a decoder's to an encoder's, in a step: the CPU's kernel trains as products do, and gives what the
// same texts give when they come padded; offsets that fit nothing are refused, of queries and of keys.
#include "../furthest.hpp"
#include "in_products.hpp"
#include "packed_cross_reference.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/nn/attend_packed.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/sum.hpp>
#include <tx/run/executor.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>

#include <memory>

namespace {

using packed_cross::lengths;
using packed_cross::offsets_of;

constexpr int heads = 4, key_heads = 2, width = 12, of_keys = 8, texts = 5, longest = 40, longest_keys = 90, most = 100, most_keys = 250;
lengths const of_texts{17, 0, 1, 40, 9}, of_others{90, 4, 30, 2, 64};  // each of some keys, as padded texts have equal probabilities of what is none
constexpr int tokens = 67, others = 190;
constexpr float small = 1e-4f;  // rounding of gradients that are none, as that of keys' biases, is nothing to AdamW then

struct model {
  tx::nn::linear<width, width> query;
  tx::nn::linear<of_keys, width / heads * key_heads> key, value;
  tx::param<tx::tensor<float, 1, heads, longest, longest_keys>> bias;
};
using rows = tx::tensor<float, tx::dyn<most, 1>, width>;
using other_rows = tx::tensor<float, tx::dyn<most_keys, 2>, of_keys>;
using begins = tx::tensor<tx::i32, texts + 1>;
struct told {
  tx::tensor<float> loss;
  rows mixed;
};

constexpr auto packed_loss = [](model const& m, rows x, other_rows y, begins offsets, begins key_offsets) {
  auto const mixed = tx::nn::attend_packed<heads>(m.query(x), m.key(y), m.value(y), tx::nn::texts_at<longest>(offsets), tx::nn::texts_at<longest_keys>(key_offsets), m.bias);
  return told{tx::sum(mixed * mixed) * small, mixed};
};
// Offsets that the program computes, which nobody checks.
constexpr auto unchecked_loss = [](model const& m, rows x, other_rows y, begins offsets, begins key_offsets) {
  return packed_loss(m, x, y, tx::maximum(offsets, 0), tx::maximum(key_offsets, 0));
};
using unchecked_step = tx::train_step<model, unchecked_loss, tx::adamw>;
using packed_step = tx::train_step<model, packed_loss, tx::adamw>;
using packed_halves = tx::train_step<model, packed_loss, tx::adamw, tx::mixed<tx::bf16>>;

using padded_rows = tx::tensor<float, texts, longest, width>;
using padded_others = tx::tensor<float, texts, longest_keys, of_keys>;
constexpr auto padded_loss = [](model const& m, padded_rows x, padded_others y, tx::tensor<bool, texts, longest> there, tx::tensor<bool, texts, longest_keys> others_there) {
  auto const apart = [](auto const& z, auto of) { return tx::transpose<0, 2, 1, 3>(tx::reshape<texts, std::remove_cvref_t<decltype(z)>::dims[1], of.value, width / heads>(z)); };
  std::integral_constant<int, heads> const all{};
  std::integral_constant<int, key_heads> const few{};
  auto const mixed = tx::nn::attend(apart(m.query(x), all), apart(m.key(y), few), apart(m.value(y), few), others_there, m.bias);
  auto const of_tokens = tx::where(tx::reshape<texts, 1, longest, 1>(there), mixed, 0.0f);
  return tx::sum(of_tokens * of_tokens) * small;
};
using padded_step = tx::train_step<model, padded_loss, tx::adamw>;

std::vector<float> numbers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i * 7919 % 200) / 50 - 2;
  return x;
}

template <class Backend, class Step = packed_step>
values_of_steps trained(int threads, std::vector<int> const& offsets = offsets_of(of_texts, 0), std::vector<int> const& key_offsets = offsets_of(of_others, 0)) {
  tx::executor<Step, Backend> run{tx::seed(6), {.threads = threads}};
  run.settings["dropout"] = 0.2f;
  std::vector<double> losses, mixed;
  for (int s = 0; s < 3; ++s) {
    auto const r = run(numbers(tokens * width), numbers(others * of_keys), offsets, key_offsets);
    losses.push_back(static_cast<double>(r.loss));
    mixed.assign(r.mixed.begin(), r.mixed.end());
  }
  auto const all = run.read();
  return {losses, mixed, {all.begin(), all.end()}};
}

// Texts one beside the other, and which places have a token.
struct padded {
  std::vector<float> x;
  std::unique_ptr<bool[]> there;
  std::size_t places;

  padded(std::vector<float> const& packed, lengths const& of, std::size_t most_of, std::size_t wide)
      : x(of.size() * most_of * wide, 5.0f), there(std::make_unique<bool[]>(of.size() * most_of)), places(of.size() * most_of) {
    for (std::size_t t = 0, from = 0; t < of.size(); from += of[t++]) {
      std::copy_n(packed.begin() + static_cast<std::ptrdiff_t>(from * wide), of[t] * wide, x.begin() + static_cast<std::ptrdiff_t>(t * most_of * wide));
      std::fill_n(there.get() + t * most_of, of[t], true);
    }
  }
  std::span<bool const> has() const { return {there.get(), places}; }
};
values_of_steps trained_padded() {
  tx::executor<padded_step, tx::cpu> run{tx::seed(6)};
  run.settings["dropout"] = 0.2f;
  padded const x(numbers(tokens * width), of_texts, longest, width), y(numbers(others * of_keys), of_others, longest_keys, of_keys);
  std::vector<double> losses;
  for (int s = 0; s < 3; ++s) losses.push_back(static_cast<double>(run(x.x, y.x, x.has(), y.has()).loss));
  auto const all = run.read();
  return {losses, {}, {all.begin(), all.end()}};
}

struct both_ways {
  rows one, two;
};
// One list of offsets, and the same given twice.
constexpr auto to_itself = [](rows x, begins offsets) {
  auto const at = tx::nn::texts_at<longest>(offsets);
  return both_ways{tx::nn::attend_packed<heads>(x, x * 0.5f, x, at), tx::nn::attend_packed<heads>(x, x * 0.5f, x, at, at)};
};

}  // namespace

TEST_CASE("packed attention to other tokens trains as products do, and as padded texts do", "[packed]") {
  CHECK(attentions<packed_step, tx::cpu_target>() == 2);
  CHECK(attentions<packed_step, writes_out>() == 0);
  auto const one = trained<tx::cpu>(1), two = trained<tx::cpu>(2), products = trained<in_products>(2), plain = trained<tx::reference>(1), padded_ones = trained_padded();
  REQUIRE(one[1].size() == tokens * width);
  check_agreement(one, two, {products, plain}, 2e-5);
  CHECK(distance(one[0], padded_ones[0]) < 2e-5);
  CHECK(distance(one[2], padded_ones[2]) < 2e-5);
}

TEST_CASE("packed attention of halves to other tokens is the same kernel", "[packed]") {
  CHECK(attentions<packed_halves, tx::cpu_target>() == 2);
  auto const one = trained<tx::cpu, packed_halves>(1), two = trained<tx::cpu, packed_halves>(2), products = trained<in_products, packed_halves>(2), single = trained<tx::cpu>(1);
  for (std::size_t k = 0; k < one.size(); ++k) CHECK(one[k] == two[k]);
  for (std::size_t k : {0u, 1u}) {
    CHECK(distance(one[k], products[k]) < 3e-2);
    CHECK(distance(one[k], single[k]) < 3e-2);
  }
}

TEST_CASE("the same offsets twice are those of queries and of keys", "[packed]") {
  tx::executor<tx::function<to_itself>, tx::cpu> run{tx::seed(6)};
  auto const r = run(numbers((tokens + 9) * width), offsets_of(of_texts, 3));
  CHECK(std::equal(r.one.begin(), r.one.end(), r.two.begin(), r.two.end()));
  CHECK(std::any_of(r.two.begin(), r.two.end(), [](float x) { return x != 0; }));
}

TEST_CASE("offsets of queries or of keys that fit no texts are refused", "[packed]") {
  tx::executor<packed_step, tx::cpu> run{tx::seed(6)};
  auto const x = numbers(tokens * width), y = numbers(others * of_keys);
  auto const at = offsets_of(of_texts, 0), keys_at = offsets_of(of_others, 0);
  auto const refused = [&](std::vector<int> const& o, std::vector<int> const& k, char const* argument, char const* what) {
    CHECK_THROWS_WITH(run(x, y, o, k), Catch::Contains(argument) && Catch::Contains(what));
  };
  refused({0, 17, 17, 18, 59, 67}, keys_at, "argument 2", "holds 59 at element 4; an offset must be at most 40 above the one before it, 18");
  refused({0, 17, 17, 18, 58, 68}, keys_at, "argument 2", "holds 68 at element 5; an offset must be below 68");  // of the tokens that there are
  refused(at, {0, 91, 94, 124, 126, 190}, "argument 3", "holds 91 at element 1; an offset must be at most 90 above the one before it, 0");
  refused(at, {0, 90, 94, 124, 126, 191}, "argument 3", "holds 191 at element 5; an offset must be below 191");
  refused(at, {0, 90, 94, 93, 126, 190}, "argument 3", "holds 93 at element 3; an offset must be at least the one before it, 94");
  refused(at, {-1, 80, 94, 124, 126, 190}, "argument 3", "holds -1 at element 0; an offset must be at least 0");
  CHECK_NOTHROW(run(x, y, std::vector<int>{5, 17, 17, 18, 58, 60}, std::vector<int>{0, 0, 0, 0, 0, 0}));
}

TEST_CASE("what computed offsets leave over of texts that are too long is of none", "[packed]") {
  std::vector<int> const offsets{3, 50, 50, 52, 60, 67}, key_offsets{0, 100, 101, 101, 102, 190};  // the first text has 47 queries and 100 keys
  auto const of = [&]<class Backend>(int threads) { return trained<Backend, unchecked_step>(threads, offsets, key_offsets); };
  auto const one = of.operator()<tx::cpu>(1), two = of.operator()<tx::cpu>(2), products = of.operator()<in_products>(1), plain = of.operator()<tx::reference>(1);
  check_agreement(one, two, {products, plain}, 2e-5);
  for (std::size_t n : {0u, 2u, 43u, 49u})
    for (std::size_t d = 0; d < width; ++d) CHECK(one[1][n * width + d] == 0);
}
