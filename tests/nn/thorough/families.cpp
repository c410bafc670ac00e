// Encoders and heads of four families against transformers, by an interpreter in f64: logits, hidden states, losses and every gradient, of padded
// and of packed texts.
#include "../families.hpp"
#include "../recorded.hpp"

#include "../../furthest.hpp"

#include <tx/ops/cross_entropy.hpp>

#include <catch2/catch.hpp>

#include <numeric>

namespace {

using namespace families;

values numbers(tx::io::safetensors const& file, std::string const& name) {
  tx::io::tensor_info const* const t = file.find(name);
  INFO(name);
  REQUIRE(t != nullptr);
  values out(t->bytes.size() / 4);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = tx::element_at(t->type, t->bytes.data(), static_cast<std::int64_t>(i));
  return out;
}

using text_ids = tx::tensor<tx::i32, batch, longest>;
using offsets = tx::tensor<tx::i32, batch + 1>;
using places = tx::tensor<tx::i32, masked>;
template <class Config>
constexpr bool typed = Config::types > 1;

template <bool First, auto One, auto Other>
constexpr auto either() {
  if constexpr (First) return One;
  else return Other;
}

// The batch as packed texts, and where the tokens of padded ones have gone.
struct packed {
  values ids, positions, offsets{0}, types, place = values(batch * longest, -1);
  packed(values const& padded, values const& mask, values const& of_type) {
    for (std::size_t i = 0; i < padded.size(); ++i) {
      if (i % longest == 0 && i > 0) offsets.push_back(static_cast<double>(ids.size()));
      if (mask[i] == 0) continue;
      place[i] = static_cast<double>(ids.size());
      ids.push_back(padded[i]);
      positions.push_back(static_cast<double>(i % longest));
      if (!of_type.empty()) types.push_back(of_type[i]);
    }
    offsets.push_back(static_cast<double>(ids.size()));
    for (auto* each : {&ids, &positions, &types}) each->resize(batch * longest);  // recorded for the most there may be
  }
};

template <class Config>
struct reference_batch {
  tx::io::safetensors file = reference<Config>();
  values ids = numbers(file, "ids"), mask = numbers(file, "mask"), labels = numbers(file, "labels"), words = numbers(file, "words");
  values types = typed<Config> ? numbers(file, "types") : values{};
  packed texts{ids, mask, types};
};

template <class Model, class Config>
values weights(reference_batch<Config> const& b, std::string const& head) {
  values block(static_cast<std::size_t>(tx::layout<Model>::size));
  for (auto const& p : tx::parameters_of<Model>()) {
    values const v = numbers(b.file, weight_name<Config>(head, p.name));
    REQUIRE(static_cast<std::int64_t>(v.size()) == p.info.count());
    std::copy(v.begin(), v.end(), block.begin() + p.offset);
  }
  return block;
}

double furthest(values const& got, values const& wanted) {
  REQUIRE(got.size() == wanted.size());
  double most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) keep_furthest(most, std::abs(got[i] - wanted[i]));
  return most;
}

template <class Config>
struct only_encoder {
  tx::named_module<Config::family::name, typename Config::family::template encoder<Config>> encoder;
  constexpr auto operator()(auto const&... inputs) const { return encoder(inputs...); }
  template <int Longest>
  constexpr auto packed(auto const&... inputs) const {
    return encoder.body.template packed<Longest>(inputs...);
  }
};

// A model's function of padded texts or of packed ones, whose last argument is left out where tokens have no types.
template <class Model, class Config, auto Padded, auto PaddedTypes, auto Packed, auto PackedTypes>
std::vector<values> both(reference_batch<Config> const& b, std::string const& head, values const* before = nullptr) {
  std::vector<values> padded{b.ids, b.mask}, packed{b.texts.ids, b.texts.positions, b.texts.offsets};
  if (typed<Config>) padded.push_back(b.types);
  if (typed<Config>) packed.push_back(b.texts.types);
  if (before != nullptr) {
    padded.insert(padded.begin(), *before);
    values moved;
    for (double const p : *before) moved.push_back(b.texts.place[static_cast<std::size_t>(p)]);
    packed.insert(packed.begin(), moved);
  }
  recorded<Model, either<typed<Config>, PaddedTypes, Padded>()> first;
  recorded<Model, either<typed<Config>, PackedTypes, Packed>()> second;
  first.block = second.block = weights<Model>(b, head);
  return {first.run(padded)[0], second.run(packed)[0]};
}

constexpr auto padded = [](auto const& m, text_ids ids, text_ids mask) { return m(ids, mask); };
constexpr auto padded_types = [](auto const& m, text_ids ids, text_ids mask, text_ids types) { return m(ids, mask, types); };
using every_token = tx::tensor<tx::i32, batch * longest>;
constexpr auto packed_texts = [](auto const& m, every_token ids, every_token positions, offsets o) { return m.template packed<longest>(ids, positions, o); };
constexpr auto packed_types = [](auto const& m, every_token ids, every_token positions, offsets o, every_token types) {
  return m.template packed<longest>(ids, positions, o, types);
};

template <class Model, class Config>
void check_logits(reference_batch<Config> const& b, std::string const& head) {
  INFO(name_of<Config> << ' ' << head);
  values const wanted = numbers(b.file, "logits." + head);
  auto const got = both<Model, Config, padded, padded_types, packed_texts, packed_types>(b, head);
  CHECK(furthest(got[0], wanted) < 1e-5);
  CHECK(furthest(got[1], wanted) < 1e-5);
}
// Of each token there is; the reference's others are not looked at.
template <class Model, class Config>
void check_tokens(reference_batch<Config> const& b, std::string const& head, std::string const& name) {
  INFO(name_of<Config> << ' ' << head);
  values const wanted = numbers(b.file, name);
  std::size_t const width = wanted.size() / (batch * longest);
  auto const got = both<Model, Config, padded, padded_types, packed_texts, packed_types>(b, head);
  double most = 0;
  for (std::size_t token = 0; token < batch * longest; ++token)
    for (std::size_t c = 0; c < width && b.mask[token] != 0; ++c) {
      keep_furthest(most, std::abs(got[0][token * width + c] - wanted[token * width + c]));
      keep_furthest(most, std::abs(got[1][static_cast<std::size_t>(b.texts.place[token]) * width + c] - wanted[token * width + c]));
    }
  CHECK(most < 1e-5);
}

constexpr auto loss = [](auto const& m, text_ids ids, text_ids mask, tx::tensor<tx::i32, batch> label) { return tx::cross_entropy(m(ids, mask), label); };
constexpr auto loss_types = [](auto const& m, text_ids ids, text_ids mask, tx::tensor<tx::i32, batch> label, text_ids types) {
  return tx::cross_entropy(m(ids, mask, types), label);
};
constexpr auto word_loss = [](auto const& m, text_ids ids, text_ids mask, places at, places words) { return tx::cross_entropy(m(at, ids, mask), words); };
constexpr auto word_loss_types = [](auto const& m, text_ids ids, text_ids mask, places at, places words, text_ids types) {
  return tx::cross_entropy(m(at, ids, mask, types), words);
};

// Every gradient, relative to the largest of its tensor.
template <class Model, class Config, auto Loss>
void check_gradients(reference_batch<Config> const& b, std::string const& head, std::vector<values> inputs) {
  INFO(name_of<Config> << ' ' << head);
  if (typed<Config>) inputs.push_back(b.types);
  recorded<Model, Loss> r;
  r.differentiate();
  r.block = weights<Model>(b, head);
  auto const outputs = r.run(inputs);
  CHECK(outputs[0][0] == Approx(numbers(b.file, "loss." + head)[0]).epsilon(1e-6));
  values block(r.block.size());
  std::size_t next = 1;
  for (int p = 0; p < r.parameters.size(); ++p) {
    if (r.gradients[p] < 0) continue;
    values const& v = outputs[next++];
    for (std::size_t i = 0; i < v.size(); ++i) block[static_cast<std::size_t>(r.g[r.parameters[p]].at.v[0]) + i] += v[i];
  }
  std::size_t compared = 0;
  for (auto const& p : tx::parameters_of<Model>()) {
    if (b.file.find("gradient." + head + "." + p.name) == nullptr) continue;
    INFO(p.name);
    values const wanted = numbers(b.file, "gradient." + head + "." + p.name);
    values const got(block.begin() + p.offset, block.begin() + p.offset + p.info.count());
    double largest = 1e-6;  // a key's bias has none
    for (double const x : wanted) largest = std::max(largest, std::abs(x));
    CHECK(furthest(got, wanted) < 1e-4 * largest);
    ++compared;
  }
  CHECK(compared == tx::parameters_of<Model>().size());
}

}  // namespace

TEMPLATE_TEST_CASE("encoders and heads of a family give Hugging Face's numbers", "", bert, roberta, distilbert, electra) {
  using config = TestType;
  using family = typename config::family;
  reference_batch<config> const b;
  using classifier = tx::nn::sequence_classifier<family, config, label_count>;
  check_logits<classifier>(b, "sequence");
  check_logits<tx::nn::multiple_choice<family, config, 2>>(b, "choice");
  check_tokens<tx::nn::token_classifier<family, config, 5>>(b, "token", "logits.token");
  check_tokens<tx::nn::question_answering<family, config>>(b, "question", "logits.question");

  using language_model = tx::nn::masked_lm<family, config>;
  values const at{3, 12, 18, 24, 40};
  constexpr auto words = [](auto const& m, places p, text_ids ids, text_ids mask) { return m(p, ids, mask); };
  constexpr auto words_types = [](auto const& m, places p, text_ids ids, text_ids mask, text_ids types) { return m(p, ids, mask, types); };
  constexpr auto packed_words = [](auto const& m, places p, every_token ids, every_token positions, offsets o) {
    return m.template packed<longest>(p, ids, positions, o);
  };
  constexpr auto packed_words_types = [](auto const& m, places p, every_token ids, every_token positions, offsets o, every_token types) {
    return m.template packed<longest>(p, ids, positions, o, types);
  };
  auto const logits = both<language_model, config, words, words_types, packed_words, packed_words_types>(b, "masked", &at);
  for (values const& got : logits) CHECK(furthest(got, numbers(b.file, "logits.masked")) < 1e-5);

  check_gradients<classifier, config, either<typed<config>, loss_types, loss>()>(b, "sequence", {b.ids, b.mask, b.labels});
  check_gradients<language_model, config, either<typed<config>, word_loss_types, word_loss>()>(b, "masked", {b.ids, b.mask, at, b.words});
}

TEMPLATE_TEST_CASE("hidden states of a family are Hugging Face's", "", bert, roberta, distilbert, electra) {
  using config = TestType;
  reference_batch<config> const b;
  check_tokens<only_encoder<config>>(b, "hidden", "hidden");
}
