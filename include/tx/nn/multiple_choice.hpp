// multiple_choice<Family, Config, Choices>: which of some endings goes with a text: each choice is a text of its own, with one logit. ids [batch * Choices,
// seq] -> logits [batch, Choices]. Named as Hugging Face's ...ForMultipleChoice.
#pragma once

#include <tx/expr/named_module.hpp>
#include <tx/nn/bert.hpp>

namespace tx::nn {

template <class Family, class Config, int Choices>
struct multiple_choice {
  static_assert(Choices > 1, "tx::nn::multiple_choice: there is nothing to choose. FIX: at least 2 choices");
  named_module<Family::name, typename Family::template encoder<Config, typename Family::template choice_pooler<Config>>> encoder;
  named_module<"", typename Family::template choice_head<Config>> head;

  // ids, key mask, token types, each [batch * Choices, seq], the choices of one text beside each other -> logits [batch, Choices]
  constexpr auto operator()(typed_handle auto const& ids, typed_handle auto const&... mask_and_types) const {
    return chosen(pooled_hidden(encoder.body.pooler, encoder(ids, mask_and_types...), mask_and_types...));
  }
  // Packed texts, the choices of one behind each other: ids, positions [tokens], offsets [batch * Choices + 1], perhaps types -> [batch, Choices]
  template <int Longest>
  constexpr auto packed(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const& offsets, typed_handle auto const&... types) const {
    return chosen(encoder.body.pooler.packed(encoder.body.template packed<Longest>(ids, positions, offsets, types...), offsets));
  }

 private:
  template <typed_handle X>
  constexpr auto chosen(X const& pooled) const {
    static_assert(X::dims[0] % Choices == 0, "tx::nn::multiple_choice: the number of texts is no multiple of the choices. FIX: batch * Choices texts");
    return reshape<X::dims[0] / Choices, Choices>(head(pooled));
  }
};

}  // namespace tx::nn
