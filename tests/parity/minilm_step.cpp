// What tx makes of MiniLM with a head of two labels, for minilm.py: minilm_step FOLDER BATCHES OUT writes into OUT the hidden states of the first batch,
// its loss and every gradient, and the losses of 100 steps of AdamW without dropout; all in f32, by the processor's kernels.
#include <tx/backends/cpu.hpp>
#include <tx/io/parameters.hpp>
#include <tx/io/pretrained.hpp>
#include <tx/io/safetensors.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>
#include <tx/train/value_and_grad.hpp>

#include <cstdio>
#include <cstring>
#include <ratio>

namespace {

constexpr int texts = 8, tokens = 48, steps = 100;

struct config {
  static constexpr int layers = 6, hidden = 384, heads = 12, ffn = 1536, vocabulary = 30522, positions = 512, types = 2;
  using layer_norm_epsilon = std::ratio<1, 1'000'000'000'000>;
};
using network = tx::nn::sequence_classifier<tx::nn::bert_family, config, 2>;
using token_ids = tx::tensor<tx::i32, texts, tokens>;

constexpr auto hidden_states = [](network const& m, token_ids ids, token_ids mask) { return m.encoder(ids, mask); };
constexpr auto loss = [](network const& m, token_ids ids, token_ids mask, tx::tensor<tx::i32, texts> labels) { return tx::cross_entropy(m(ids, mask), labels); };

struct named_numbers {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<float const> data;
};

// All batches of an integer tensor, [batches, ...]: those of batch k.
std::span<tx::i32 const> of_batch(std::vector<tx::i32> const& all, std::size_t each, std::size_t k) { return std::span(all).subspan(k % (all.size() / each) * each, each); }
std::vector<tx::i32> integers(tx::io::safetensors const& file, char const* name) {
  tx::io::tensor_info const* const t = file.find(name);
  if (t == nullptr || t->type != tx::dtype::i32) throw tx::format_error(std::string("there is no tensor of i32 ") + name);
  std::vector<tx::i32> out(t->bytes.size() / sizeof(tx::i32));
  std::memcpy(out.data(), t->bytes.data(), t->bytes.size());
  return out;
}

void run(char const* folder, char const* batches, char const* out) {
  auto const file = tx::io::safetensors::read(batches);
  auto const ids = integers(file, "ids"), mask = integers(file, "mask"), labels = integers(file, "labels");
  constexpr std::size_t each = texts * tokens;

  tx::executor<tx::train_step<network, loss, tx::adamw>, tx::cpu> step{tx::seed(1)};
  auto const report = tx::io::load_pretrained(tx::io::model_folder::open(folder), step.tensors(), "bert");
  if (!report.fresh.empty()) throw tx::format_error("the folder lacks " + report.fresh.front());
  step.settings["learning_rate"] = 1e-4f;
  step.settings["dropout"] = 0;

  std::vector<named_numbers> told;
  tx::executor<tx::function<hidden_states, network>, tx::cpu> encoder{step};
  auto const hidden = encoder(of_batch(ids, each, 0), of_batch(mask, each, 0));
  told.push_back({"hidden", {texts, tokens, config::hidden}, {hidden.value.begin(), hidden.value.end()}});

  tx::executor<tx::value_and_grad<loss, network>, tx::cpu> slope{step};
  slope.settings["dropout"] = 0;
  auto const found = slope(of_batch(ids, each, 0), of_batch(mask, each, 0), of_batch(labels, texts, 0));
  float const value = found.value;
  told.push_back({"loss", {}, {&value, 1}});
  for (auto const& g : found.gradient.tensors()) {
    std::vector<std::int64_t> shape;
    for (int a = 0; a < g.dims.rank; ++a) shape.push_back(g.dims.dim[a]);
    told.push_back({"gradient." + g.name, shape, g.data});
  }

  std::vector<float> losses;
  for (std::size_t k = 0; k < steps; ++k) losses.push_back(step(of_batch(ids, each, k), of_batch(mask, each, k), of_batch(labels, texts, k)).loss);
  told.push_back({"losses", {steps}, losses});
  tx::io::save_parameters(out, told);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: minilm_step FOLDER BATCHES OUT\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], argv[3]);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "minilm_step: %s\n", e.what());
    return 1;
  }
}
