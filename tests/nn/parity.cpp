// tests/parity's models and numbers, by an interpreter in f64: do the modules mean what PyTorch's do?
#include "recorded.hpp"

#include <tx/io/safetensors.hpp>
#include <tx/nn/masked_lm.hpp>
#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>

#include "../furthest.hpp"

#include <catch2/catch.hpp>

namespace {

tx::io::safetensors load(std::string const& name) {
  return tx::io::safetensors::read(TX_TEST_DIR "/../parity/data/" + name + ".safetensors");
}

template <class T>
values numbers(tx::io::tensor_info const& t) {
  std::vector<T> typed(t.bytes.size() / sizeof(T));
  std::memcpy(typed.data(), t.bytes.data(), t.bytes.size());
  return values(typed.begin(), typed.end());
}
values numbers(tx::io::safetensors const& file, std::string const& name) {
  tx::io::tensor_info const* const t = file.find(name);
  INFO(name);
  REQUIRE(t != nullptr);
  if (t->type == tx::dtype::f64) return numbers<double>(*t);
  if (t->type == tx::dtype::i32) return numbers<std::int32_t>(*t);
  REQUIRE(t->type == tx::dtype::f32);
  return numbers<float>(*t);
}

// All tensors of a model, which must be those of the file, in one block.
template <class Model>
values block_of(std::string const& file) {
  auto const tensors = load(file);
  auto const parameters = tx::parameters_of<Model>();
  CHECK(tensors.tensors().size() == parameters.size());
  values block(static_cast<std::size_t>(tx::layout<Model>::size));
  for (auto const& p : parameters) {
    values const v = numbers(tensors, p.name);
    REQUIRE(static_cast<std::int64_t>(v.size()) == p.info.count());
    std::copy(v.begin(), v.end(), block.begin() + p.offset);
  }
  return block;
}

// The gradients of a run, in a block; they follow the results of the loss.
template <class Recorded>
values gradients_of(Recorded const& r, std::vector<values> const& outputs, std::size_t size, std::size_t results = 1) {
  values block(size);
  std::size_t next = results;
  for (int p = 0; p < r.parameters.size(); ++p) {
    if (r.gradients[p] < 0) continue;
    values const& v = outputs[next++];
    std::copy(v.begin(), v.end(), block.begin() + r.g[r.parameters[p]].at.v[0]);
  }
  return block;
}

void compare(values const& got, values const& wanted, double margin) {
  REQUIRE(got.size() == wanted.size());
  double furthest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) keep_furthest(furthest, std::abs(got[i] - wanted[i]));
  CHECK(furthest < margin);
}

template <class T, auto... Dims>
using t = tx::tensor<T, Dims...>;

struct small_bert {
  static constexpr int layers = 2;
  static constexpr int hidden = 24;
  static constexpr int heads = 4;
  static constexpr int ffn = 48;
  static constexpr int vocabulary = 40;
  static constexpr int positions = 20;
  static constexpr int types = 2;
};
using classifier = tx::nn::bert_classifier<small_bert, 2>;
using words = t<tx::i32, 4, 16>;
constexpr auto bert_loss = [](auto const& m, words ids, words mask, t<tx::i32, 4> label) {
  return tx::cross_entropy(m(ids, mask), label);
};
constexpr auto bert_logits = [](auto const& m, words ids, words mask) { return m(ids, mask); };
constexpr auto bert_logits_with_types = [](auto const& m, words ids, words mask, words types) {
  return m(ids, mask, types);
};

// The batch of other heads: three texts of 12, 7 and 1 words, five of them masked.
struct tiny_bert {
  static constexpr int layers = 2;
  static constexpr int hidden = 16;
  static constexpr int heads = 2;
  static constexpr int ffn = 24;
  static constexpr int vocabulary = 40;
  static constexpr int positions = 12;
  static constexpr int types = 2;
};
using masked_lm = tx::nn::bert_masked_lm<tiny_bert>;
using mean_classifier = tx::nn::bert_classifier<tiny_bert, 2, tx::nn::bert_mean_pooler<tiny_bert>>;
using texts = t<tx::i32, 3, 12>;
using places = t<tx::i32, 5>;
struct loss_and_logits {
  t<float> loss;
  t<float, 5, 40> logits;
};
constexpr auto language_loss = [](auto const& m, places at, texts ids, texts mask, texts types, places hidden) {
  auto const logits = m(at, ids, mask, types);
  return loss_and_logits{tx::cross_entropy(logits, hidden), logits};
};
struct loss_and_scores {
  t<float> loss;
  t<float, 3, 2> scores;
};
constexpr auto mean_loss = [](auto const& m, texts ids, texts mask, t<tx::i32, 3> label) {
  auto const scores = m(ids, mask);
  return loss_and_scores{tx::cross_entropy(scores, label), scores};
};

template <class Crossing>
struct tiny_twin : tx::nn::twinbert_config {
  static constexpr int layers = 2;
  static constexpr int hidden = 32;
  static constexpr int heads = 4;
  static constexpr int ffn = 64;
  static constexpr int vocabulary = 200;
  static constexpr int query_words = 6;
  static constexpr int document_words = 12;
  using input = tx::nn::wordpiece;
  using crossing = Crossing;
};
template <class C>
constexpr auto twin_loss = [](auto const& m, tx::nn::query_ids<C, 8> q, tx::nn::document_ids<C, 8> d,
                              t<float, 8> label) { return tx::nn::logistic_loss(m(q, d), label); };

values part(values const& all, std::size_t index, std::size_t parts) {
  std::size_t const one = all.size() / parts;
  auto const first = all.begin() + static_cast<std::ptrdiff_t>(index * one);
  return values(first, first + static_cast<std::ptrdiff_t>(one));
}

// Every group's decay is its own; rate 1e-3, betas 0.9 and 0.999, epsilon 1e-8.
template <class Model>
struct adamw {
  values m = values(static_cast<std::size_t>(tx::layout<Model>::size));
  values v = m;
  int step = 0;
  double rate = 1e-3;
  double decay = 1;  // times the group's

  void update(values& block, values const& gradient) {
    ++step;
    for (auto const& group : tx::layout<Model>::groups)
      for (auto i = static_cast<std::size_t>(group.first); i < static_cast<std::size_t>(group.first + group.count);
           ++i) {
        m[i] = 0.9 * m[i] + 0.1 * gradient[i];
        v[i] = 0.999 * v[i] + 0.001 * gradient[i] * gradient[i];
        double const slope = m[i] / (1 - std::pow(0.9, step)) / (std::sqrt(v[i] / (1 - std::pow(0.999, step))) + 1e-8);
        block[i] -= rate * (slope + decay * static_cast<double>(group.decay) * block[i]);
      }
  }
};

template <class Crossing>
void train_twin(std::string const& name, std::size_t steps) {
  using config = tiny_twin<Crossing>;
  using model = tx::nn::twinbert<config>;
  recorded<model, twin_loss<config>> r;
  r.differentiate();
  r.block = block_of<model>(name + ".initial");
  auto const batches = load("twinbert.batches");
  values const losses = numbers(load(name + ".losses"), "losses_f64");
  adamw<model> optimizer;
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<values> batch;
    for (char const* input : {"query", "document", "label"})
      batch.push_back(part(numbers(batches, input), step % 20, 20));
    auto const outputs = r.run(batch);
    INFO("step " << step);
    REQUIRE(outputs[0][0] == Approx(losses[step]).margin(1e-6));
    values const gradient = gradients_of(r, outputs, r.block.size());
    if (step == 0) compare(gradient, block_of<model>(name + ".gradients"), 1e-5);
    optimizer.update(r.block, gradient);
  }
}

}  // namespace

TEST_CASE("BERT agrees with Hugging Face's") {
  auto const batch = load("bert.batch");
  values const ids = numbers(batch, "ids");
  values const mask = numbers(batch, "mask");
  values const block = block_of<classifier>("bert.initial");

  recorded<classifier, bert_loss> r;
  r.differentiate();
  r.block = block;
  auto const outputs = r.run({ids, mask, numbers(batch, "labels")});
  compare(outputs[0], numbers(batch, "loss"), 1e-6);
  values const gradient = gradients_of(r, outputs, block.size());
  compare(gradient, block_of<classifier>("bert.gradients"), 1e-6);

  // A first step of AdamW has the length of the rate where the gradient is not rounding noise.
  values updated = block;
  adamw<classifier> optimizer;
  optimizer.rate = 1e-2;
  optimizer.decay = 50;
  optimizer.update(updated, gradient);
  values const wanted = block_of<classifier>("bert.updated");
  compare(updated, wanted, 2.2e-2);
  values const their_gradient = block_of<classifier>("bert.gradients");
  for (std::size_t i = 0; i < updated.size(); ++i)
{
    bool const decayed = gradient[i] == 0 && their_gradient[i] == 0;  // by its decay alone
    if (std::abs(gradient[i]) > 1e-5 || decayed) REQUIRE(std::abs(updated[i] - wanted[i]) < (decayed ? 1e-7 : 2e-5));
  }

  recorded<classifier, bert_logits> plain;
  plain.block = block;
  compare(plain.run({ids, mask})[0], numbers(batch, "logits"), 1e-6);
  recorded<classifier, bert_logits_with_types> typed;
  typed.block = block;
  compare(typed.run({ids, mask, numbers(batch, "types")})[0], numbers(batch, "logits_with_types"), 1e-6);
}

TEST_CASE("BERT's masked language model agrees with Hugging Face's") {
  auto const batch = load("heads.batch");
  recorded<masked_lm, language_loss> r;
  r.differentiate();
  r.block = block_of<masked_lm>("masked_lm.initial");
  std::vector<values> inputs;
  for (char const* name : {"places", "ids", "mask", "types", "words"}) inputs.push_back(numbers(batch, name));
  auto const outputs = r.run(inputs);
  compare(outputs[0], numbers(batch, "language.loss"), 1e-6);
  compare(outputs[1], numbers(batch, "language.logits"), 1e-6);
  compare(gradients_of(r, outputs, r.block.size(), 2), block_of<masked_lm>("masked_lm.gradients"), 1e-6);
}

TEST_CASE("BERT's mean pooler agrees with PyTorch's") {
  auto const batch = load("heads.batch");
  recorded<mean_classifier, mean_loss> r;
  r.differentiate();
  r.block = block_of<mean_classifier>("bert_mean.initial");
  auto const outputs = r.run({numbers(batch, "ids"), numbers(batch, "mask"), numbers(batch, "labels")});
  compare(outputs[0], numbers(batch, "mean.loss"), 1e-6);
  compare(outputs[1], numbers(batch, "mean.logits"), 1e-6);
  compare(gradients_of(r, outputs, r.block.size(), 2), block_of<mean_classifier>("bert_mean.gradients"), 1e-6);
}

TEST_CASE("TwinBERT's first steps agree with PyTorch's") {
  train_twin<tx::nn::cosine>("twinbert_cosine", 4);
  train_twin<tx::nn::residual>("twinbert_residual", 4);
}

TEST_CASE("TwinBERT's losses agree with PyTorch's", "[.slow]") {
  train_twin<tx::nn::cosine>("twinbert_cosine", 200);
  train_twin<tx::nn::residual>("twinbert_residual", 200);
}
