// masked_lm<Family, Config>: a masked language model (Devlin et al., arXiv 1810.04805) on the encoder of a family, bert_family, roberta_family,
// distilbert_family or electra_family, named as Hugging Face's ...ForMaskedLM. places [N], ids [batch, seq] -> logits [N, vocabulary]. The head, whose product
// with the vocabulary is the largest of all, is computed for the masked tokens alone. bert_masked_lm<Config> is that of BERT.
#pragma once

#include <tx/expr/named_module.hpp>
#include <tx/nn/bert.hpp>

namespace tx::nn {

template <class Family, class Config>
struct masked_lm {
  named_module<Family::name, typename Family::template encoder<Config>> encoder;
  named_module<"", typename Family::template masked_head<Config>> head;

  // places [N]: the numbers of the masked tokens among the batch * seq there are; a negative one is an empty place, whose row is
  // zeros. Then ids [batch, seq] and, if wanted, key mask and token types of that shape -> logits [N, vocabulary]
  template <typed_handle Places, typed_handle Ids>
  constexpr auto operator()(Places const& places, Ids const& ids, typed_handle auto const&... others) const {
    static_assert(Places::dims.rank == 1 && Ids::dims.rank == 2, "tx::nn::masked_lm: places are [N], ids are [batch, seq]. FIX: reshape them");
    return of_rows(take(reshape<Ids::dims[0] * Ids::dims[1], Config::hidden>(encoder(ids, others...)), places));
  }
  // Packed texts: places [N] among the tokens there are, ids, positions [tokens], offsets [texts + 1], perhaps types [tokens]
  template <int Longest, typed_handle Places>
  constexpr auto packed(Places const& places, typed_handle auto const&... texts) const {
    static_assert(Places::dims.rank == 1, "tx::nn::masked_lm: places are [N]. FIX: reshape them");
    return of_rows(take(encoder.body.template packed<Longest>(texts...), places));
  }

 private:
  constexpr auto of_rows(typed_handle auto const& rows) const { return head(rows, encoder.body.embeddings.word_embeddings.weight); }
};

template <class Config>
using bert_masked_lm = masked_lm<bert_family, Config>;

}  // namespace tx::nn
