#include <tx/backends/cpu.hpp>
#include <tx/io/parameters.hpp>
#include <tx/nn/masked_lm.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include "../furthest.hpp"

#include <catch2/catch.hpp>

#include <cstring>

namespace {

struct tiny {  // as in tests/parity/heads.py
  static constexpr int layers = 2, hidden = 16, heads = 2, ffn = 24, vocabulary = 40, positions = 12, types = 2;
};
using model = tx::nn::bert_masked_lm<tiny>;
constexpr int batch = 3, tokens = 12, masked = 5;
using ids = tx::tensor<tx::i32, batch, tokens>;
template <int N>
using places = tx::tensor<tx::i32, N>;

constexpr auto some = [](model const& m, places<masked> at, ids words) { return m(at, words); };
constexpr auto all = [](model const& m, places<batch * tokens> at, ids words) { return m(at, words); };
template <int N>
constexpr auto loss = [](model const& m, places<N> at, ids words, places<N> label) { return tx::cross_entropy(m(at, words), label); };
template <int N>
using step = tx::train_step<model, loss<N>, tx::adamw>;

static_assert(step<masked>::memory.activations + 4 * (batch * tokens - masked) * tiny::vocabulary <= step<batch * tokens>::memory.activations,
              "logits of other tokens are not computed");

std::vector<tx::i32> words() {
  std::vector<tx::i32> w(batch * tokens);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<tx::i32>(i * 11 % 40);
  return w;
}
std::vector<tx::i32> const at{2, 7, 13, 30, 35};

std::string data(std::string const& name) { return TX_TEST_DIR "/../parity/data/" + name + ".safetensors"; }
template <class T>
std::vector<T> numbers(tx::io::safetensors const& file, std::string const& name) {
  INFO(name);
  tx::io::tensor_info const* const t = file.find(name);
  REQUIRE(t != nullptr);
  REQUIRE(t->type == tx::dtype_v<T>);
  std::vector<T> v(t->bytes.size() / sizeof(T));
  std::memcpy(v.data(), t->bytes.data(), t->bytes.size());
  return v;
}

}  // namespace

TEST_CASE("the head of masked tokens gives what the head of all tokens gives for them", "[mlm]") {
  tx::executor<tx::function<some, model>, tx::cpu> few{tx::seed(1)};
  tx::executor<tx::function<all, model>, tx::cpu> full{tx::seed(1)};
  std::vector<tx::i32> every(batch * tokens);
  for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<tx::i32>(i);
  auto const got = few(at, words());
  auto const want = full(every, words());
  for (std::size_t k = 0; k < at.size(); ++k)
    for (std::size_t v = 0; v < tiny::vocabulary; ++v)
      CHECK(got.value[k * tiny::vocabulary + v] == Approx(want.value[static_cast<std::size_t>(at[k]) * tiny::vocabulary + v]).margin(1e-6));
}

TEST_CASE("a step of a masked language model has Hugging Face's loss and gradients", "[mlm]") {
  tx::executor<step<masked>, tx::cpu> run{tx::seed(0)};
  run.settings["dropout"] = 0;
  tx::io::load_parameters(data("masked_lm.initial"), run.tensors());
  auto const stored = tx::io::safetensors::read(data("heads.batch"));
  auto const ids = numbers<tx::i32>(stored, "ids");
  float const loss = run(numbers<tx::i32>(stored, "places"), ids, numbers<tx::i32>(stored, "words")).loss;
  CHECK(std::abs(static_cast<double>(loss) - numbers<double>(stored, "language.plain_loss")[0]) < 1e-5);
  auto const gradients = tx::io::safetensors::read(data("masked_lm.plain_gradients"));
  double furthest = 0;
  for (auto const& moment : run.tensors(1)) {  // a first step leaves 0.1 of the gradient
    auto const wanted = numbers<float>(gradients, moment.name);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      keep_furthest(furthest, std::abs(static_cast<double>(moment.data[i]) * 10 - static_cast<double>(wanted[i])));
  }
  CHECK(furthest < 1e-5);
}

TEST_CASE("a masked language model learns the words behind the mask", "[mlm]") {
  tx::executor<step<masked>, tx::cpu> run{tx::seed(1)};
  run.settings["learning_rate"] = 1e-2f;
  run.settings["dropout"] = 0;
  auto w = words();
  std::vector<tx::i32> label;
  for (tx::i32 place : at) {
    label.push_back(w[static_cast<std::size_t>(place)]);
    w[static_cast<std::size_t>(place)] = 39;
  }
  float const first = run(at, w, label).loss;
  float last = first;
  for (int i = 0; i < 60; ++i) last = run(at, w, label).loss;
  CHECK(first > 3.0f);
  CHECK(last < 0.1f);
}

TEST_CASE("parameters have Hugging Face's names", "[mlm]") {
  std::vector<std::string> names;
  for (auto const& p : tx::parameters_of<model>()) names.push_back(p.name);
  for (char const* name : {"bert.embeddings.word_embeddings.weight", "cls.predictions.bias", "cls.predictions.transform.LayerNorm.weight",
                           "cls.predictions.transform.dense.weight"})
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
}
