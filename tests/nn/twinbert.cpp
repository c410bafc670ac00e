#include "recorded.hpp"

#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>

#include <catch2/catch.hpp>

namespace {

template <class Input, class Pooler, class Crossing, bool Shared, int Layers = 2, class Block = tx::nn::post_norm>
struct tiny : tx::nn::twinbert_config {
  static constexpr int layers = Layers;
  static constexpr int hidden = 8;
  static constexpr int heads = 2;
  static constexpr int ffn = 12;
  static constexpr int vocabulary = 20;
  static constexpr int query_words = 3;
  static constexpr int document_words = 5;
  static constexpr bool shared = Shared;
  using input = Input;
  using pooler = Pooler;
  using crossing = Crossing;
  using block = Block;
};

using tx::nn::document_ids;
using tx::nn::query_ids;
template <class T, auto... Dims>
using t = tx::tensor<T, Dims...>;

template <class C>
constexpr auto loss = [](auto const& m, query_ids<C, 2> q, document_ids<C, 2> d, t<float, 2> label) {
  return tx::nn::logistic_loss(m(q, d), label);
};
template <class C>
constexpr auto in_batch = [](auto const& m, query_ids<C, 2> q, document_ids<C, 2> d) {
  return tx::nn::in_batch_softmax_loss(m.query(q), m.document(d));
};
template <class C>
constexpr auto query_vector = [](auto const& m, query_ids<C, 2> q) { return m.query(q); };
template <class C>
constexpr auto document_vector = [](auto const& m, document_ids<C, 2> d) { return m.document(d); };

constexpr int letters = 4;
using word = tx::nn::wordpiece;
using tri = tx::nn::tri_letter<letters>;
using weighted = tx::nn::weighted_pooler;
using cls = tx::nn::cls_pooler;
using cosine = tx::nn::cosine;
using residual = tx::nn::residual;

static_assert(std::is_same_v<query_ids<tiny<word, cls, cosine, true>, 2>, t<tx::i32, 2, 3>>);
static_assert(std::is_same_v<document_ids<tiny<tri, cls, cosine, true>, 2>, t<tx::i32, 2, 5, letters>>);

// Two texts, given by the ids of their words, 0 for none: as they are, or with the letters of each word.
template <class Config>
values ids(values const& words) {
  if constexpr (std::is_same_v<typename Config::input, word>) return words;
  values all;
  for (double w : words)
    for (int k = 0; k < letters; ++k)
      all.push_back(w > 0 && k <= static_cast<int>(w) % letters ? std::fmod(w + 3 * k, 20) : -1);
  return all;
}

template <class Config>
std::set<std::string> expected_names() {
  std::set<std::string> names;
  std::vector<std::string> towers{"towers.both."};
  if (!Config::shared) towers = {"towers.query.", "towers.document."};
  for (auto const& tower : towers) {
    names.insert(tower + "embeddings.word_embeddings.weight");
    names.insert(tower + "embeddings.position_embeddings.weight");
    add_layer_names(names, tower + "encoder.", Config::layers);
    if (std::is_same_v<typename Config::pooler, weighted>) names.insert(tower + "pooler.weight");
  }
  if (std::is_same_v<typename Config::crossing, cosine>)
    names.insert({"crossing.weight", "crossing.bias"});
  else
    for (char const* layer : {"inner", "outer", "classifier"})
      for (char const* kind : {".weight", ".bias"}) names.insert(std::string("crossing.") + layer + kind);
  return names;
}

}  // namespace

TEMPLATE_TEST_CASE("TwinBERT in all its forms", "", (tiny<word, weighted, cosine, true>),
                   (tiny<word, weighted, cosine, false>), (tiny<word, weighted, residual, true>),
                   (tiny<word, weighted, residual, false>), (tiny<word, cls, cosine, true>),
                   (tiny<word, cls, cosine, false>), (tiny<word, cls, residual, true>),
                   (tiny<word, cls, residual, false>), (tiny<tri, weighted, cosine, true>),
                   (tiny<tri, weighted, cosine, false>), (tiny<tri, weighted, residual, true>),
                   (tiny<tri, weighted, residual, false>), (tiny<tri, cls, cosine, true>),
                   (tiny<tri, cls, cosine, false>), (tiny<tri, cls, residual, true>), (tiny<tri, cls, residual, false>),
                   (tiny<tri, weighted, cosine, true, 0>), (tiny<word, cls, residual, false, 0>)) {
  using model = tx::nn::twinbert<TestType>;
  static_assert(std::is_same_v<decltype(query_vector<TestType>(model{}, {})), t<float, 2, 8>>);
  static_assert(std::is_same_v<decltype(model{}(query_ids<TestType, 2>{}, document_ids<TestType, 2>{})), t<float, 2>>);

  CHECK(names_of<model>() == expected_names<TestType>());

  recorded<model, loss<TestType>> r;
  r.differentiate();
  std::vector<values> const inputs{
      ids<TestType>({1, 2, 0, 7, 0, 0}), ids<TestType>({3, 4, 5, 6, 0, 9, 8, 0, 0, 0}), {1, 0.25}};
  auto const all = r.run(inputs);
  for (int p = 0; p < r.parameters.size(); ++p) {
    REQUIRE(r.gradients[p] >= 0);
    values const& gradient = all[static_cast<std::size_t>(p) + 1];
    auto const largest = std::max_element(gradient.begin(), gradient.end(),
                                          [](double a, double b) { return std::abs(a) < std::abs(b); });
    auto const e = static_cast<std::size_t>(largest - gradient.begin());
    CHECK(gradient[e] == Approx(r.difference(inputs, p, e)).epsilon(1e-4).margin(1e-8));
  }

  SECTION("the vector of a text depends on its own words alone") {
    auto const of_two = recorded<model, query_vector<TestType>>().run({ids<TestType>({1, 2, 0, 7, 9, 4})})[0];
    auto const beside = recorded<model, query_vector<TestType>>().run({ids<TestType>({1, 2, 0, 0, 0, 0})})[0];
    for (std::size_t c = 0; c < 8; ++c) {
      CHECK(of_two[c] == beside[c]);
      CHECK(beside[8 + c] == 0);  // an empty text
    }
    if (TestType::shared) {
      auto const longer =
          recorded<model, document_vector<TestType>>().run({ids<TestType>({7, 9, 4, 0, 0, 1, 2, 0, 0, 0})})[0];
      for (std::size_t c = 0; c < 8; ++c) {
        CHECK(longer[c] == Approx(of_two[8 + c]));
        CHECK(longer[8 + c] == Approx(of_two[c]));
      }
    }
  }
  SECTION("empty texts give numbers") {
    for (auto const& value :
         r.run({ids<TestType>({1, 2, 0, 0, 0, 0}), ids<TestType>({0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), {1, 0.25}}))
      for (double x : value) REQUIRE(std::isfinite(x));
    recorded<model, in_batch<TestType>> batch;
    batch.differentiate();
    for (auto const& value :
         batch.run({ids<TestType>({1, 2, 0, 0, 0, 0}), ids<TestType>({0, 0, 0, 0, 0, 0, 0, 0, 0, 0})}))
      for (double x : value) REQUIRE(std::isfinite(x));
  }
}

TEST_CASE("TwinBERT with pre-norm layers") {
  using with = tiny<word, weighted, cosine, true, 2, tx::nn::pre_norm>;
  using model = tx::nn::twinbert<with>;
  std::set<std::string> const names = names_of<model>();
  CHECK(names.count("towers.both.encoder.layer.1.layernorm_before.weight") == 1);
  CHECK(names.count("towers.both.encoder.layer.1.attention.output.dense.weight") == 1);
  CHECK(names.count("towers.both.encoder.layer.1.output.LayerNorm.weight") == 0);
  recorded<model, loss<with>> r;
  r.differentiate();
  std::vector<values> const inputs{{1, 2, 0, 7, 0, 0}, {3, 4, 5, 6, 0, 9, 8, 0, 0, 0}, {1, 0.25}};
  auto const all = r.run(inputs);
  for (int p = 0; p < r.parameters.size(); ++p) {
    REQUIRE(r.gradients[p] >= 0);
    CHECK(all[static_cast<std::size_t>(p) + 1][0] == Approx(r.difference(inputs, p, 0)).epsilon(1e-4).margin(1e-8));
  }
}

TEST_CASE("a shared tower draws its own random numbers for each text") {
  using config = tiny<word, weighted, cosine, true>;
  recorded<tx::nn::twinbert<config>, loss<config>> const r(true);
  std::set<std::int64_t> streams;
  int drawn = 0;
  for (int i = 0; i < r.g.size(); ++i)
    if (r.g[i].op == &tx::random_info) {
      ++drawn;
      streams.insert(r.g[i].at.v[0]);
    }
  CHECK(drawn == 6);
  CHECK(streams.size() == 6);
}
