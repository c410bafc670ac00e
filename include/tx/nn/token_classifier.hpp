// token_classifier<Family, Config, Labels>: logits of each token's labels, named as Hugging Face's ...ForTokenClassification. ids [batch, seq] -> logits
// [batch, seq, Labels]. question_answering<Family, Config>: where an answer begins and ends, two logits for each token, named as ...ForQuestionAnswering. ids
// [batch, seq] -> logits [batch, seq, 2].
#pragma once

#include <tx/expr/named_module.hpp>
#include <tx/nn/bert.hpp>

namespace tx::nn {

template <class Family, class Config, int Labels>
struct token_classifier {
  static_assert(Labels > 0, "tx::nn::token_classifier: there are no labels. FIX: at least 1");
  named_module<Family::name, typename Family::template encoder<Config>> encoder;
  linear<Config::hidden, Labels> classifier;

  // ids, key mask, token types, each [batch, seq], the last two optional -> logits [batch, seq, Labels]
  constexpr auto operator()(typed_handle auto const&... inputs) const { return classifier(dropout(encoder(inputs...))); }
  // Packed texts: ids, positions [tokens], offsets [texts + 1], perhaps types [tokens] -> logits [tokens, Labels]
  template <int Longest>
  constexpr auto packed(typed_handle auto const&... texts) const {
    return classifier(dropout(encoder.body.template packed<Longest>(texts...)));
  }
};

template <class Family, class Config>
struct question_answering {
  named_module<Family::name, typename Family::template encoder<Config>> encoder;
  linear<Config::hidden, 2> qa_outputs;

  // As token_classifier's; -> [..., 2], the logits of a first and of a last token
  constexpr auto operator()(typed_handle auto const&... inputs) const { return qa_outputs(encoder(inputs...)); }
  template <int Longest>
  constexpr auto packed(typed_handle auto const&... texts) const {
    return qa_outputs(encoder.body.template packed<Longest>(texts...));
  }
};

}  // namespace tx::nn
