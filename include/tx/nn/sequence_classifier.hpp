// sequence_classifier<Family, Config, Labels>: logits of a whole text's labels, on the encoder of a family (bert_family, roberta_family, distilbert_family,
// electra_family), named as Hugging Face's ...ForSequenceClassification. ids [batch, seq] -> logits [batch, Labels]. With one label it is a regression, with
// the mean squared error for a loss. bert_classifier<Config, Labels> is that of BERT.
#pragma once

#include <tx/expr/named_module.hpp>
#include <tx/nn/bert.hpp>

namespace tx::nn {

// What a head says, and what it has said it of: behind each layer [layers, tokens, hidden].
template <class Logits, class States>
struct with_hidden_states {
  Logits logits;
  States hidden_states;
};
template <class Logits, class States>
with_hidden_states(Logits, States) -> with_hidden_states<Logits, States>;

// And what attention of the last layer is computed from: attention_inputs.
template <class Logits, class States, class Attention>
struct with_last_attention {
  Logits logits;
  States hidden_states;
  Attention attention;
};
template <class Logits, class States, class Attention>
with_last_attention(Logits, States, Attention) -> with_last_attention<Logits, States, Attention>;

template <class Family, class Config, int Labels, class Pooler = typename Family::template pooler<Config>>
struct sequence_classifier {
  static_assert(Labels > 0, "tx::nn::sequence_classifier: there are no labels. FIX: at least 1");
  named_module<Family::name, typename Family::template encoder<Config, Pooler>> encoder;
  named_module<"", typename Family::template sequence_head<Config, Labels>> head;

  // ids, key mask, token types, each [batch, seq], the last two optional -> logits [batch, Labels]
  constexpr auto operator()(typed_handle auto const& ids, typed_handle auto const&... mask_and_types) const {
    return head(pooled_hidden(encoder.body.pooler, encoder(ids, mask_and_types...), mask_and_types...));
  }
  // Packed texts: ids, positions [tokens], offsets [texts + 1], perhaps types [tokens] -> logits [texts, Labels]
  template <int Longest>
  constexpr auto packed(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets, typed_handle auto const&... types) const {
    return head(encoder.body.pooler.packed(encoder.body.template packed<Longest>(ids, positions, offsets, types...), offsets));
  }
  // The same with the hidden states beside the logits, for distillation and probes.
  template <int Longest>
  constexpr auto packed_with_states(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets,
                                    typed_handle auto const&... types) const {
    auto const states = encoder.body.template packed_states<Longest>(ids, positions, offsets, types...);
    return with_hidden_states{head(encoder.body.pooler.packed(states.carry, offsets)), states.out};
  }
  // The same, and what the last layer's attention is computed from, for attention_distillation.hpp.
  template <int Longest>
  constexpr auto packed_with_attention(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets,
                                       typed_handle auto const&... types) const {
    auto const states = encoder.body.template packed_attention<Longest>(ids, positions, offsets, types...);
    return with_last_attention{head(encoder.body.pooler.packed(states.carry, offsets)), states.out, states.attention};
  }
};

template <class Config, int Labels, class Pooler = bert_pooler<Config>>
using bert_classifier = sequence_classifier<bert_family, Config, Labels, Pooler>;

}  // namespace tx::nn
