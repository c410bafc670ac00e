#include "recorded.hpp"

#include <tx/nn/losses.hpp>
#include <tx/nn/pre_norm_layer.hpp>
#include <tx/nn/twinbert.hpp>

#include <catch2/catch.hpp>

#include <array>

namespace {

struct tiny {
  static constexpr int layers = 2;
  static constexpr int hidden = 8;
  static constexpr int heads = 2;
  static constexpr int ffn = 12;
};
template <class T, auto... Dims>
using t = tx::tensor<T, Dims...>;
template <class Model, class... In>
using result = decltype(std::declval<Model const&>()(std::declval<In>()...));
using hidden = t<float, 2, 5, 8>;
using mask = t<bool, 2, 5>;

static_assert(std::is_same_v<result<tx::nn::layer_norm<8>, hidden>, hidden>);
static_assert(std::is_same_v<result<tx::nn::embedding<11, 8>, t<tx::i32, 2, 5>>, hidden>);
static_assert(std::is_same_v<result<tx::nn::embedding<11, 8>, t<tx::i64, 2>>, t<float, 2, 8>>);
static_assert(std::is_same_v<decltype(tx::nn::embedding<11, 8>{}.bag(std::declval<t<tx::i32, 2, 5, 3>>())), hidden>);
static_assert(std::is_same_v<decltype(tx::nn::embedding<11, 8>{}.first<5>()), t<float, 5, 8>>);
static_assert(std::is_same_v<result<tx::nn::self_attention<8, 2>, hidden>, hidden>);
static_assert(std::is_same_v<result<tx::nn::self_attention<8, 2>, hidden, mask>, hidden>);
static_assert(std::is_same_v<result<tx::nn::bert_layer<tiny>, hidden, t<tx::i32, 2, 5>>, hidden>);
static_assert(std::is_same_v<result<tx::nn::pre_norm_layer<tiny>, hidden>, hidden>);
static_assert(std::is_same_v<result<tx::nn::bert_encoder<tiny>, hidden, mask>, hidden>);
static_assert(std::is_same_v<result<tx::nn::bert_encoder<tiny, tx::nn::pre_norm_layer<tiny>>, hidden, mask>, hidden>);
static_assert(std::is_same_v<result<tx::nn::weighted_pooler::type<8>, hidden, mask>, t<float, 2, 8>>);
static_assert(std::is_same_v<result<tx::nn::cls_pooler::type<8>, hidden, mask>, t<float, 2, 8>>);
static_assert(std::is_same_v<result<tx::nn::cosine::type<8>, t<float, 2, 8>, t<float, 2, 8>>, t<float, 2>>);
static_assert(std::is_same_v<result<tx::nn::residual::type<8>, t<float, 2, 8>, t<float, 2, 8>>, t<float, 2>>);

template <class P>
using group = typename P::group;
static_assert(std::is_same_v<group<decltype(tx::nn::layer_norm<8>::weight)>, tx::not_decayed>);
static_assert(std::is_same_v<group<decltype(tx::nn::layer_norm<8>::bias)>, tx::not_decayed>);
static_assert(std::is_same_v<decltype(tx::nn::layer_norm<8>::weight)::initializer, tx::init::ones>);
static_assert(std::is_same_v<decltype(tx::nn::layer_norm<8>::bias)::initializer, tx::init::zeros>);
static_assert(
    std::is_same_v<group<decltype(tx::nn::twinbert_embeddings<tx::nn::twinbert_config>::word_embeddings.weight)>,
                   tx::nn::embedding_group>);
static_assert(
    std::is_same_v<decltype(tx::nn::pre_norm_layer<tiny>::output.dense.weight)::initializer, tx::init::zeros>);
static_assert(std::is_same_v<decltype(tx::nn::pre_norm_layer<tiny>::attention.output.dense.weight)::initializer,
                             tx::init::zeros>);

struct only_norm {
  tx::nn::layer_norm<8> norm;
};
struct only_attention {
  tx::nn::self_attention<8, 2> attention;
};
struct poolers {
  tx::nn::weighted_pooler::type<8> weighted;
  tx::nn::cls_pooler::type<8> cls;
};
constexpr auto normed = [](auto const& m, t<float, 2, 8> x) { return m.norm(x); };
constexpr auto attended = [](auto const& m, hidden x, mask k) { return m.attention(x, k); };
constexpr auto weighted = [](auto const& m, hidden x, mask k) { return m.weighted(x, k); };
constexpr auto first = [](auto const& m, hidden x, mask k) { return m.cls(x, k); };
constexpr auto scores = [](hidden x, mask k) {
  auto const s = tx::nn::mask_keys(tx::reshape<2, 1, 1, 5>(tx::slice<2, 0, 1>(x)), k);
  return tx::softmax(s);
};
constexpr auto in_batch = [](t<float, 3, 2> q, t<float, 3, 2> d) { return tx::nn::in_batch_softmax_loss(q, d); };
constexpr auto soft = [](t<float, 3> x, t<float, 3> y) { return tx::nn::logistic_loss(x, y); };
constexpr auto hard = [](t<float, 3> x, t<tx::i32, 3> y) { return tx::nn::logistic_loss(x, y); };
constexpr auto hard_bool = [](t<float, 3> x, t<bool, 3> y) { return tx::nn::logistic_loss(x, y); };

values numbers(std::size_t n) {
  values v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = std::sin(2.1 * static_cast<double>(i) + 0.5);
  return v;
}

}  // namespace

TEST_CASE("layer_norm's epsilon is BERT's") {
  auto const out =
      recorded<only_norm, normed>().run({{1e-6, -1e-6, 1e-6, -1e-6, 1e-6, -1e-6, 1e-6, -1e-6, 0, 0, 0, 0, 0, 0, 0, 0}});
  values const scale = recorded<only_norm, normed>().parameter(0, 8);
  values const shift = recorded<only_norm, normed>().parameter(1, 8);
  for (std::size_t i = 0; i < 8; ++i) {
    double const sign = i % 2 == 0 ? 1 : -1;
    CHECK(out[0][i] == Approx(sign / std::sqrt(2) * scale[i] + shift[i]));  // variance 1e-12, as large as epsilon
    CHECK(out[0][8 + i] == Approx(shift[i]));
  }
}

TEST_CASE("masked keys have no probability at all") {
  values x = numbers(80);
  for (std::size_t i : {8u, 24u}) x[i] = 1e6;  // the masked ones would win
  auto const probabilities = recorded<tx::no_model, scores>().run({x, {1, 0, 1, 0, 1, 0, 0, 0, 0, 0}});
  CHECK(probabilities[0][1] == 0);
  CHECK(probabilities[0][3] == 0);
  CHECK(probabilities[0][0] + probabilities[0][2] + probabilities[0][4] == Approx(1));
  for (std::size_t i = 5; i < 10; ++i) CHECK(probabilities[0][i] == Approx(0.2));
}

TEST_CASE("attention is that of its definition") {
  recorded<only_attention, attended> const r;
  values const x = numbers(80);
  values const keys{1, 1, 1, 1, 0, 1, 0, 1, 1, 1};
  auto const out = r.run({x, keys});
  auto const projected = [&](int which, std::size_t row, std::size_t column) {
    values const w = r.parameter(2 * which, 64);
    double sum = r.parameter(2 * which + 1, 8)[column];
    for (std::size_t i = 0; i < 8; ++i) sum += x[row * 8 + i] * w[column * 8 + i];
    return sum;
  };
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t i = 0; i < 5; ++i)
      for (std::size_t c = 0; c < 8; ++c) {
        std::size_t const head = c / 4;
        double total = 0;
        double mixed = 0;
        for (std::size_t j = 0; j < 5; ++j) {
          if (keys[b * 5 + j] == 0) continue;
          double score = 0;
          for (std::size_t k = head * 4; k < head * 4 + 4; ++k)
            score += projected(0, b * 5 + i, k) * projected(1, b * 5 + j, k);
          double const weight = std::exp(score / 2);
          total += weight;
          mixed += weight * projected(2, b * 5 + j, c);
        }
        CHECK(out[0][(b * 5 + i) * 8 + c] == Approx(mixed / total));
      }
}

TEST_CASE("poolers give 0 for a text without words") {
  values const x = numbers(80);
  values const keys{1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
  recorded<poolers, weighted> const r;
  values const w = r.parameter(0, 8);
  double weight[2] = {};
  for (std::size_t j = 0; j < 2; ++j) {
    for (std::size_t c = 0; c < 8; ++c) weight[j] += x[j * 8 + c] * w[c];
    weight[j] = std::exp(weight[j]);
  }
  auto const mean = r.run({x, keys})[0];
  auto const cls = recorded<poolers, first>().run({x, keys})[0];
  for (std::size_t c = 0; c < 8; ++c) {
    CHECK(mean[c] == Approx((weight[0] * x[c] + weight[1] * x[8 + c]) / (weight[0] + weight[1])));
    CHECK(mean[8 + c] == 0);
    CHECK(cls[c] == x[c]);
    CHECK(cls[8 + c] == 0);
  }
}

TEST_CASE("losses") {
  auto const expected =
      (std::log1p(std::exp(-2.0)) + (std::log1p(std::exp(0.5)) - 0.25 * 0.5) + std::log1p(std::exp(-3.0))) / 3;
  CHECK(recorded<tx::no_model, soft>().run({{2, 0.5, -3}, {1, 0.25, 0}})[0][0] == Approx(expected));
  double const two = recorded<tx::no_model, soft>().run({{2, 0.5, -3}, {1, 0, 1}})[0][0];
  CHECK(recorded<tx::no_model, hard>().run({{2, 0.5, -3}, {1, 0, 1}})[0][0] == Approx(two));
  CHECK(recorded<tx::no_model, hard_bool>().run({{2, 0.5, -3}, {1, 0, 1}})[0][0] == Approx(two));

  // Cosines of 1, 0, -1: the lengths of the vectors do not matter.
  values const q{2, 0, 0, 3, -1, 0};
  double const e = std::exp(20.0);
  double const own = std::log((e + 1 + 1 / e) / e);
  CHECK(recorded<tx::no_model, in_batch>().run({q, q})[0][0] == Approx((2 * own + std::log((e + 2) / e)) / 3));
  auto const empty = recorded<tx::no_model, in_batch>().run({{0, 0, 0, 3, -1, 0}, {2, 0, 0, 0, 0, 0}});
  CHECK(std::isfinite(empty[0][0]));
}

TEST_CASE("modules in an array are named by their places") {
  struct stack {
    std::array<tx::nn::linear<3, 3>, 2> layers;
    std::array<tx::param<t<float, 3>>, 2> gains;
    std::array<std::array<tx::param<t<float>>, 1>, 2> nested;
  };
  std::vector<std::string> names;
  for (auto const& p : tx::parameters_of<stack>()) names.push_back(p.name);
  CHECK(names == std::vector<std::string>{"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias",
                                          "gains.0", "gains.1", "nested.0.0", "nested.1.0"});
}
