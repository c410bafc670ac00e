// An encoder without a head, and one vector for each text of what it says of its tokens. Included behind the model's header.
#pragma once

#include "packing.hpp"

#include <tx/expr/named_module.hpp>
#include <tx/nn/text_pooler.hpp>

namespace bert::TX_ON_CHOSEN(detail) {

struct encoder_alone {
  tx::named_module<model::family::name, model::family::encoder<model::config>> encoder;
};
// hidden [tokens, hidden], offsets [texts + 1] -> [texts, hidden]
constexpr auto mean_of(auto const& hidden, auto const& offsets) { return tx::nn::mean_token<model::config>{}.packed(hidden, offsets); }
constexpr auto first_of(auto const& hidden, auto const& offsets) { return tx::nn::first_token<model::config>{}.packed(hidden, offsets); }

}  // namespace bert::detail
