// Texts of unequal length, padded with zeros: words, positions, encoder layers that a mask keeps off the padding, one
// vector a text. Which of two words comes first?
#include <tx/backends/cpu.hpp>
#include <tx/io/progress.hpp>
#include <tx/tx.hpp>

#include <cstdio>
#include <random>
#include <vector>

constexpr int vocabulary = 20, longest = 12, batch = 32;

struct config {
  static constexpr int layers = 2, hidden = 32, heads = 4, ffn = 64;
};
struct text_classifier {
  tx::nn::embedding<vocabulary, 32> words;
  tx::nn::embedding<longest, 32> positions;
  tx::nn::bert_encoder<config, tx::nn::pre_norm_layer<config>> encoder;
  tx::nn::weighted_pooler::type<32> pooler;
  tx::nn::linear<32, 2> out;

  constexpr auto operator()(auto const& ids) const {           // [batch, longest], 0 where there is no word
    auto const mask = tx::less(0, ids);                        // bool, of the same shape
    auto const x = words(ids) + positions.first<longest>();    // [batch, longest, 32]
    return out(pooler(encoder(x, mask), mask));                // [batch, 2]
  }
};
using texts = tx::tensor<tx::i32, batch, longest>;
inline constexpr auto loss = [](text_classifier const& m, texts ids, tx::tensor<tx::i32, batch> label) {
  return tx::cross_entropy(m(ids), label);
};
inline constexpr auto predict = [](text_classifier const& m, texts ids) { return tx::argmax<-1>(m(ids)); };

struct drawn {
  std::vector<tx::i32> ids = std::vector<tx::i32>(batch * longest), label = std::vector<tx::i32>(batch);

  // Words from 3 on, one of them replaced by 1 and one by 2: is 2 the first?
  explicit drawn(std::mt19937& random) {
    for (std::size_t t = 0; t < batch; ++t) {
      std::size_t const length = 3 + random() % (longest - 2);
      tx::i32* const text = ids.data() + t * longest;
      for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<tx::i32>(3 + random() % (vocabulary - 3));
      std::size_t const one = random() % length, two = (one + 1 + random() % (length - 1)) % length;
      text[one] = 1;
      text[two] = 2;
      label[t] = two < one;
    }
  }
};

int main() {
  std::mt19937 random(0);
  tx::executor<tx::train_step<text_classifier, loss, tx::adamw>, tx::cpu> run{tx::seed(0)};
  run.settings["learning_rate"] = 3e-3f;
  run.settings["dropout"] = 0;
  tx::io::progress show(300);
  for (int i = 0; i < 300; ++i) {
    drawn const b(random);
    show.write(i + 1, {{"loss", static_cast<float>(run(b.ids, b.label).loss)}});
  }
  show.finish();
  tx::executor<tx::function<predict, text_classifier>, tx::cpu> infer{run};  // of the same parameters
  int right = 0;
  for (int i = 0; i < 10; ++i) {
    drawn const b(random);
    auto const found = infer(b.ids).value;  // i32 [batch, 1]
    for (std::size_t t = 0; t < batch; ++t) right += found[t] == b.label[t];
  }
  std::printf("%d of %d new texts right\n", right, 10 * batch);
  return right > 9 * batch ? 0 : 1;
}
