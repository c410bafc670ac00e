// Compiled training steps against PyTorch: same weights, same batches, same losses. Others are in thorough/.
#include "from_pytorch.hpp"

#include <tx/nn/sequence_classifier.hpp>

using namespace tx;

namespace {

struct small_bert {
  static constexpr int layers = 2, hidden = 24, heads = 4, ffn = 48, vocabulary = 40, positions = 20, types = 2;
};
using classifier = nn::bert_classifier<small_bert, 2>;
using words = tensor<i32, 4, 16>;
constexpr auto bert_loss = [](auto const& m, words ids, words mask, tensor<i32, 4> label) { return cross_entropy(m(ids, mask), label); };

}  // namespace

TEST_CASE("200 TwinBERT steps stay with PyTorch's, cosine crossing") { CHECK(train_twin<nn::cosine>("twinbert_cosine") < 1e-4); }

TEST_CASE("one BERT step gives Hugging Face's loss and weights") {
  using step = train_step<classifier, bert_loss, adamw>;
  auto run = like_pytorch<step>("bert.initial");
  run.settings["learning_rate"] = 1e-2f;
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
