#include "recorded.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/nn/bert_embeddings.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>

#include <catch2/catch.hpp>

namespace {

struct tiny {
  static constexpr int layers = 2;
  static constexpr int hidden = 8;
  static constexpr int heads = 2;
  static constexpr int ffn = 12;
  static constexpr int vocabulary = 11;
  static constexpr int positions = 7;
  static constexpr int types = 2;
};
using model = tx::nn::bert_classifier<tiny, 3>;

template <class T, auto... Dims>
using t = tx::tensor<T, Dims...>;
using ids = t<tx::i32, 2, 5>;

template <class Model, class... In>
using result = decltype(std::declval<Model const&>()(std::declval<In>()...));
static_assert(std::is_same_v<result<tx::nn::bert<tiny>, ids>, t<float, 2, 5, 8>>);
static_assert(std::is_same_v<result<tx::nn::bert<tiny>, ids, ids>, t<float, 2, 5, 8>>);
static_assert(std::is_same_v<result<tx::nn::bert<tiny>, ids, t<bool, 2, 5>, ids>, t<float, 2, 5, 8>>);
static_assert(std::is_same_v<result<tx::nn::bert<tiny>, ids, t<float, 2, 5>>, t<float, 2, 5, 8>>);
static_assert(std::is_same_v<result<tx::nn::bert_pooler<tiny>, t<float, 2, 5, 8>>, t<float, 2, 8>>);
static_assert(std::is_same_v<result<model, ids, ids, ids>, t<float, 2, 3>>);

constexpr auto loss = [](auto const& m, ids words, ids mask, t<tx::i32, 2> label) {
  return tx::cross_entropy(m(words, mask), label);
};
constexpr auto logits = [](auto const& m, ids words, ids mask) { return m(words, mask); };
constexpr auto unmasked = [](auto const& m, ids words) { return m(words); };
constexpr auto additive = [](auto const& m, ids words, t<float, 2, 5> mask) { return m(words, mask); };
constexpr auto shorter = [](auto const& m, t<tx::i32, 2, 3> words) { return m(words); };

constexpr int nodes_of_a_step() {
  tx::graph g;
  tx::trace<model, loss>(g);
  tx::vec<int> parameters;
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == &tx::parameter_info) parameters.push_back(i);
  for (int gradient : tx::gradients(g, g.outputs[0].value, parameters))
    if (gradient >= 0) g.outputs.push_back({gradient});  // a peeled repeat reads its parameters in parts
  return tx::passes::simplify(g).size();
}
static_assert(nodes_of_a_step() > 100);  // in a constant evaluation

values const words{1, 2, 3, 4, 5, 6, 7, 8, 0, 0};
values const mask{1, 1, 1, 1, 1, 1, 1, 1, 0, 0};

void compare(values const& a, values const& b, double tolerance = 1e-12) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(tolerance));
}

}  // namespace

TEST_CASE("BERT's tensors have Hugging Face's names") {
  std::set<std::string> expected{"bert.embeddings.word_embeddings.weight",
                                 "bert.embeddings.position_embeddings.weight",
                                 "bert.embeddings.token_type_embeddings.weight",
                                 "bert.embeddings.LayerNorm.weight",
                                 "bert.embeddings.LayerNorm.bias",
                                 "bert.pooler.dense.weight",
                                 "bert.pooler.dense.bias",
                                 "classifier.weight",
                                 "classifier.bias"};
  add_layer_names(expected, "bert.encoder.", tiny::layers);
  CHECK(names_of<model>() == expected);

  std::set<std::string> without_pooler{"embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight",
                                       "embeddings.token_type_embeddings.weight", "embeddings.LayerNorm.weight",
                                       "embeddings.LayerNorm.bias"};
  add_layer_names(without_pooler, "encoder.", tiny::layers);
  CHECK(names_of<tx::nn::bert<tiny, tx::nn::no_pooler>>() == without_pooler);
}

TEST_CASE("BERT's gradients agree with differences") {
  recorded<model, loss> r;
  r.differentiate();
  std::vector<values> const inputs{words, mask, {2, 0}};
  auto const all = r.run(inputs);
  auto const simplified = r.run(inputs, true);
  for (std::size_t i = 0; i < all.size(); ++i) compare(simplified[i], all[i]);
  for (int p = 0; p < r.parameters.size(); ++p) {
    REQUIRE(r.gradients[p] >= 0);
    values const& gradient = all[static_cast<std::size_t>(p) + 1];
    for (std::size_t e : {std::size_t{0}, gradient.size() / 2, gradient.size() - 1})
      CHECK(gradient[e] == Approx(r.difference(inputs, p, e)).epsilon(1e-5).margin(1e-8));
  }
}

TEST_CASE("masked tokens change nothing, whatever the type of the mask") {
  recorded<model, logits> const r;
  auto const out = r.run({words, mask})[0];
  values other = words;
  other[8] = 9;
  other[9] = 10;
  compare(r.run({other, mask})[0], out, 0);
  values const half{1, 1, 1, 0, 0, 1, 1, 1, 0, 0};
  auto const short_out = recorded<model, shorter>().run({{1, 2, 3, 6, 7, 8}})[0];
  compare(r.run({words, half})[0], short_out);
  double const off = -std::numeric_limits<double>::infinity();
  compare(recorded<model, additive>().run({words, {0, 0, 0, off, off, 0, 0, 0, -1e30, -1e9}})[0], short_out);
  compare(r.run({words, values(10, 1)})[0], recorded<model, unmasked>().run({words})[0]);
}

TEST_CASE("a classifier of the mean of all tokens leaves masked ones out") {
  using mean_model = tx::nn::sequence_classifier<tx::nn::bert_family, tiny, 3, tx::nn::mean_token<tiny>>;
  values const half{1, 1, 1, 0, 0, 1, 1, 1, 0, 0};
  compare(recorded<mean_model, logits>().run({words, half})[0], recorded<mean_model, shorter>().run({{1, 2, 3, 6, 7, 8}})[0]);
}

TEST_CASE("a row without valid tokens gives numbers") {
  recorded<model, loss> r;
  r.differentiate();
  for (auto const& value : r.run({words, {1, 1, 1, 1, 1, 0, 0, 0, 0, 0}, {2, 0}}))
    for (double x : value) CHECK(std::isfinite(x));
  double const off = -std::numeric_limits<double>::infinity();
  auto const out = recorded<model, additive>().run({words, values(10, off)});
  for (double x : out[0]) CHECK(std::isfinite(x));
}

TEST_CASE("dropout is where Hugging Face has it, in training alone") {
  auto const random = [](tx::graph const& g) {
    int n = 0;
    for (int i = 0; i < g.size(); ++i) n += g[i].op == &tx::random_info;
    return n;
  };
  CHECK(random(recorded<model, logits>(true).g) == 1 + 3 + 3 + 1);  // embeddings, three of a layer, of the peeled one, classifier
  CHECK(random(recorded<model, logits>(false).g) == 0);
}

namespace {
struct with_padding : tiny {
  static constexpr int first_position = 2;
};
constexpr auto packed_embeddings = [](tx::nn::bert_embeddings<with_padding> const& m, t<tx::i32, 3> tokens, t<tx::i32, 3> places, t<tx::i32, 3> kinds) { return m.packed(tokens, places, kinds); };
}  // namespace

TEST_CASE("packed tokens have no place beyond the table, behind the rows of padding too") {
  tx::executor<tx::function<packed_embeddings, tx::nn::bert_embeddings<with_padding>>, tx::cpu> run{tx::seed(1)};
  std::vector<tx::i32> const first_words{1, 2, 3}, kinds{0, 1, 0};
  CHECK_NOTHROW(run(first_words, std::vector<tx::i32>{0, 1, 4}, kinds));  // the last one of seven rows
  CHECK_THROWS_AS(run(first_words, std::vector<tx::i32>{0, 1, 5}, kinds), tx::value_error);
  CHECK_THROWS_AS(run(first_words, std::vector<tx::i32>{0, -1, 1}, kinds), tx::value_error);
}
