// answer_loss(logits, offsets, first, last): how well the ends of answers are told in packed texts, as Hugging Face's ...ForQuestionAnswering is trained: the
// cross entropy of the first token and of the last among the tokens of each text, their mean. logits [tokens, 2], offsets [texts + 1], first, last [texts] ->
// scalar.
//   logits   [tokens, 2]: of being an answer's first token, and its last
//   offsets  [texts + 1]: where texts begin; each has at least one token
//   first, last  [texts], i32: among all tokens; where there is no answer, the text's first token
#pragma once

#include <tx/nn/text_pooler.hpp>
#include <tx/ops/attention_facts.hpp>
#include <tx/ops/logsumexp.hpp>

namespace tx::nn {

template <typed_handle L, typed_handle O, typed_handle P>
constexpr auto answer_loss(L const& logits, O const& offsets, P const& first, P const& last) {
  static_assert(P::dims.rank == 1 && O::dims[0] == P::dims[0] + 1, "tx::nn::answer_loss: offsets are one more than texts. FIX: offsets [texts + 1], first and last [texts]");
  auto const own = own_tokens(logits, offsets);  // [texts, tokens]
  auto const loss = [&](auto const& of_end, P const& at) {                             // [tokens, 1]
    auto const all = logsumexp<-1>(where(own, transpose(of_end), masked_score));       // [texts, 1]
    return mean(all - take(of_end, at));
  };
  return (loss(slice<1, 0, 1>(logits), first) + loss(slice<1, 1, 1>(logits), last)) * 0.5;
}

}  // namespace tx::nn
