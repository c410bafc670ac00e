// Compiled training steps against PyTorch: same weights, same batches, same losses. The files are described in tests/parity.
#include <tx/backends/cpu.hpp>
#include <tx/exec/executor.hpp>
#include <tx/io/parameters.hpp>
#include <tx/nn/bert.hpp>
#include <tx/nn/losses.hpp>
#include <tx/nn/twinbert.hpp>
#include <tx/train/step.hpp>

#include "../furthest.hpp"

#include <catch2/catch.hpp>

using namespace tx;

namespace {

std::string data(std::string const& name) { return TX_TEST_DIR "/../parity/data/" + name + ".safetensors"; }

template <class T>
std::vector<T> numbers(io::safetensors const& file, std::string const& name) {
  io::tensor_info const* const t = file.find(name);
  REQUIRE(t != nullptr);
  REQUIRE(t->type == dtype_v<T>);
  std::vector<T> v(t->bytes.size() / sizeof(T));
  std::memcpy(v.data(), t->bytes.data(), t->bytes.size());
  return v;
}

struct small_bert {
  static constexpr int layers = 2, hidden = 24, heads = 4, ffn = 48, vocabulary = 40, positions = 20, types = 2;
};
using classifier = nn::bert_classifier<small_bert, 2>;
using words = tensor<i32, 4, 16>;
constexpr auto bert_loss = [](auto const& m, words ids, words mask, tensor<i32, 4> label) { return cross_entropy(m(ids, mask), label); };

template <class Crossing>
struct tiny_twin : nn::twinbert_config {
  static constexpr int layers = 2, hidden = 32, heads = 4, ffn = 64, vocabulary = 200, query_words = 6, document_words = 12;
  using input = nn::wordpiece;
  using crossing = Crossing;
};
template <class C>
constexpr auto twin_loss = [](auto const& m, nn::query_ids<C, 8> q, nn::document_ids<C, 8> d, tensor<f32, 8> label) {
  return nn::logistic_loss(m(q, d), label);
};

template <class Step>
executor<Step, cpu> like_pytorch(std::string const& initial) {
  executor<Step, cpu> run{seed(0)};
  run.settings.dropout = 0;
  run.settings.learning_rate = 1e-3f;
  io::load_parameters(data(initial), run.tensors());
  return run;
}

// The largest distance from PyTorch's losses over 200 steps.
template <class Crossing, class... Options>
double train_twin(std::string const& name) {
  using config = tiny_twin<Crossing>;
  using step = train_step<nn::twinbert<config>, twin_loss<config>, adamw, Options...>;
  auto run = like_pytorch<step>(name + ".initial");
  auto const batches = io::safetensors::read(data("twinbert.batches"));
  auto const queries = numbers<i32>(batches, "query");
  auto const documents = numbers<i32>(batches, "document");
  auto const labels = numbers<f32>(batches, "label");
  auto const wanted = numbers<f64>(io::safetensors::read(data(name + ".losses")), "losses_f64");
  REQUIRE(wanted.size() == 200);
  double furthest = 0;
  for (std::size_t s = 0; s < wanted.size(); ++s) {
    std::size_t const b = s % 20;
    float const loss = run(std::span(queries).subspan(b * 48, 48), std::span(documents).subspan(b * 96, 96), std::span(labels).subspan(b * 8, 8)).loss;
    keep_furthest(furthest, std::abs(static_cast<double>(loss) - wanted[s]));
  }
  return furthest;
}

}  // namespace

TEST_CASE("200 TwinBERT steps stay with PyTorch's, cosine crossing") { CHECK(train_twin<nn::cosine>("twinbert_cosine") < 1e-4); }

TEST_CASE("200 TwinBERT steps stay with PyTorch's, residual crossing") { CHECK(train_twin<nn::residual>("twinbert_residual") < 1e-4); }

TEST_CASE("200 TwinBERT steps without fusion stay there too") {
  CHECK(train_twin<nn::cosine, compiled_with<compile_options{.fuse = false}>>("twinbert_cosine") < 1e-4);
}

TEST_CASE("one BERT step gives Hugging Face's loss and weights") {
  using step = train_step<classifier, bert_loss, adamw>;
  auto run = like_pytorch<step>("bert.initial");
  run.settings.learning_rate = 1e-2f;
  for (auto& group : run.settings.groups) group.decay *= 50;
  auto const batch = io::safetensors::read(data("bert.batch"));
  auto const ids = numbers<i32>(batch, "ids");
  auto const mask = numbers<i32>(batch, "mask");
  auto const labels = numbers<i32>(batch, "labels");
  float const loss = run(ids, mask, labels).loss;
  CHECK(std::abs(loss - numbers<f32>(batch, "loss")[0]) < 1e-5f);

  auto const wanted = io::safetensors::read(data("bert.updated"));
  auto const gradients = io::safetensors::read(data("bert.gradients"));
  double furthest = 0;
  double furthest_decayed = 0;
  double furthest_gradient = 0;
  int compared = 0;
  auto const parameters = run.tensors();
  auto const moments = run.tensors(1);  // a first step leaves 0.1 of the gradient
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    auto const w = numbers<f32>(wanted, parameters[k].name);
    auto const g = numbers<f32>(gradients, parameters[k].name);
    for (std::size_t i = 0; i < w.size(); ++i) {
      keep_furthest(furthest_gradient, std::abs(static_cast<double>(moments[k].data[i]) * 10 - static_cast<double>(g[i])));
      // Below, Adam makes full steps out of rounding noise; without a gradient there is decay alone.
      bool const decayed = g[i] == 0 && moments[k].data[i] == 0;
      if (std::abs(g[i]) < 1e-5f && !decayed) continue;
      ++compared;
      keep_furthest(decayed ? furthest_decayed : furthest, std::abs(static_cast<double>(parameters[k].data[i]) - static_cast<double>(w[i])));
    }
  }
  CHECK(furthest_gradient < 1e-5);
  CHECK(compared > 10'000);
  CHECK(furthest < 1e-4);          // of steps of 1e-2
  CHECK(furthest_decayed < 1e-7);  // decay alone moves a weight of 0.02 by 1e-4
}
