// bert_pretraining<Config>: what BERT (Devlin et al., arXiv 1810.04805) is trained from nothing by: words that are masked, and whether one text follows the
// other. places [N], ids [tokens] of packed texts -> logits of words [N, vocabulary], of texts [texts, 2]. Named as Hugging Face's BertForPreTraining. The head
// for words is computed for the masked tokens alone.
#pragma once

#include <tx/nn/bert.hpp>

namespace tx::nn {

template <class Config>
struct bert_pretraining_heads {
  bert_masked_lm_predictions<Config> predictions;
  linear<Config::hidden, 2> seq_relationship;
};

// Logits: of each masked word [N, vocabulary]; of each pair of texts [texts, 2], where 0 is "the second follows the first".
template <class Words, class Follows>
struct pretraining_logits {
  Words words;
  Follows follows;
};

template <class Config>
struct bert_pretraining {
  nn::bert<Config> bert;
  bert_pretraining_heads<Config> cls;

  // Packed texts: places [N] of the masked tokens among those there are, a negative one an empty place; ids, positions [tokens], offsets [texts + 1], types
  // [tokens]
  template <int Longest>
  constexpr auto packed(typed_handle auto const& places, typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets,
                        typed_handle auto const& types) const {
    auto const hidden = bert.template packed<Longest>(ids, positions, offsets, types);  // [tokens, hidden]
    auto const words = cls.predictions(take(hidden, places), bert.embeddings.word_embeddings.weight);
    auto const follows = cls.seq_relationship(bert.pooler.packed(hidden, offsets));
    return pretraining_logits<decltype(words), decltype(follows)>{words, follows};
  }
};

}  // namespace tx::nn
