// The programs that train an encoder from nothing: masked words and pairs of texts, and how well a state tells them.
#include TX_BERT_MODEL_HEADER

#include "packed_texts.hpp"

#include <tx/nn/bert_pretraining.hpp>
#include <tx/ops/argmax.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/step.hpp>

namespace bert {
namespace TX_ON_CHOSEN(detail) {

static_assert(std::is_same_v<model::family, tx::nn::bert_family> && model::config::types > 1, "tx_add_bert: HEADS pretrain is for BERT, whose tokens have types");
using pretraining_network = tx::nn::bert_pretraining<model::config>;
inline constexpr int learned_tokens = model::batch * model::train_longest, learned_words = model::batch * model::predictions;
using learned_ids = tx::tensor<tx::i32, tx::dyn<learned_tokens>>;
using learned_offsets = tx::tensor<tx::i32, model::batch + 1>;
using word_places = tx::tensor<tx::i32, learned_words>;
using pair_flags = tx::tensor<tx::i32, model::batch>;

struct losses {
  tx::tensor<tx::f32> loss, words, follows;
};
inline constexpr tx::label_options some_words{.ignore_index = -1};  // empty places have no word
inline constexpr auto pretraining_loss = [](pretraining_network const& m, learned_ids ids, learned_ids positions, learned_offsets offsets, learned_ids types, word_places places,
                                            word_places words, pair_flags others) {
  auto const logits = m.packed<model::train_longest>(places, ids, positions, offsets, types);
  auto const of_words = tx::cross_entropy(logits.words, words, some_words);
  auto const of_pairs = tx::cross_entropy(logits.follows, others);
  return losses{of_words + of_pairs, of_words, of_pairs};
};
struct judged_losses {
  tx::tensor<tx::f32> words, follows;
  tx::tensor<tx::i32, learned_words, 1> told_words;
  tx::tensor<tx::i32, model::batch, 1> told_others;
};
inline constexpr auto pretraining_judge = [](pretraining_network const& m, learned_ids ids, learned_ids positions, learned_offsets offsets, learned_ids types, word_places places,
                                             word_places words, pair_flags others) {
  auto const logits = m.packed<model::train_longest>(places, ids, positions, offsets, types);
  auto const of_words = tx::cross_entropy(logits.words, words, some_words);
  auto const of_pairs = tx::cross_entropy(logits.follows, others);
  return judged_losses{of_words, of_pairs, tx::argmax<-1>(logits.words), tx::argmax<-1>(logits.follows)};
};

using recipe = tx::lamb_with<tx::lamb_options{.always_adapt = false}>;  // biases and norms, which have no decay, take Adam's steps
using pretraining_step = step_of<pretraining_network, pretraining_loss, recipe, tx::clip_gradient>;

class compiled_pretrainer final : public run_of<pretrainer, compiled_pretrainer> {
 public:
  explicit compiled_pretrainer(engine_options const& o) : step_(o), judge_(step_, o) {}

  told train(batch const& b, step_settings const& s, std::string const& trace) override {
    pack(b);
    return traced_step<pretraining_step>(step_, s, trace, [&] {
      auto const r = run_packed<true>(step_, packed_, places_, words_, b.others);
      return told{static_cast<double>(static_cast<float>(r.loss)), static_cast<double>(static_cast<float>(r.words)), static_cast<double>(static_cast<float>(r.follows))};
    });
  }
  told judge(batch const& b) override {
    pack(b);
    auto const r = run_packed<true>(judge_, packed_, places_, words_, b.others);
    told t{0, static_cast<double>(static_cast<float>(r.words)), static_cast<double>(static_cast<float>(r.follows))};
    t.loss = t.words + t.follows;
    double right = 0, all = 0, pairs = 0;
    for (std::size_t k = 0; k < words_.size(); ++k)
      if (words_[k] >= 0) {
        all += 1;
        right += r.told_words[k] == words_[k];
      }
    for (std::size_t k = 0; k < b.others.size(); ++k) pairs += r.told_others[k] == b.others[k];
    t.words_right = right / all;
    t.follows_right = pairs / static_cast<double>(b.others.size());
    return t;
  }
  auto& step() const { return step_; }

 private:
  // Places within texts become places among all tokens.
  void pack(batch const& b) {
    packed_.clear();
    places_.assign(learned_words, -1);
    words_.assign(learned_words, -1);
    std::size_t next = 0;
    for (std::size_t t = 0; t < b.texts.size(); ++t) {
      tx::i32 const first = packed_.tokens();
      packed_.add(b.texts[t].ids, b.texts[t].types);
      for (std::size_t k = 0; k < b.places[t].size(); ++k, ++next) {
        places_[next] = first + b.places[t][k];
        words_[next] = b.words[t][k];
      }
    }
  }

  mutable runner<pretraining_step> step_;
  runner<command_line::beside<pretraining_step, tx::function<pretraining_judge, pretraining_network>>> judge_;
  tx::text::packed_batch<model::batch, model::train_longest, learned_tokens> packed_;
  std::vector<tx::i32> places_, words_;
};

command_line::maker<pretrainer> const here_pretrainer{command_line::engine_names, [](engine_options const& o) -> std::unique_ptr<pretrainer> { return std::make_unique<compiled_pretrainer>(o); }};

}  // namespace detail
}  // namespace bert
