// first_token<Config>, mean_token<Config>, no_pooler: one vector for each text, the hidden state of its first token, or the mean of those of all its tokens as
// sentence-transformers' pooling has it, or none. [batch, seq, hidden] -> [batch, hidden].
//   pooler(x [batch, seq, hidden], key mask [batch, seq])     the mask may be left out      -> [batch, hidden]
//   pooler.packed(x [tokens, hidden], offsets [texts + 1])    packed texts                  -> [texts, hidden], 0 of a text without tokens
// Of a text that has no token by its mask, the mean is 0 and the first is that of its padding.
#pragma once

#include <tx/expr/repeat.hpp>
#include <tx/nn/key_mask.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/div.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/less_equal.hpp>
#include <tx/ops/logical_and.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/maximum.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/take.hpp>
#include <tx/ops/where.hpp>

namespace tx::nn {

struct no_pooler {};

// Which of the packed tokens are a text's own: x [tokens, ...], offsets [texts + 1] -> bool [texts, tokens]
template <typed_handle X, typed_handle Offsets>
constexpr auto own_tokens(X const& x, Offsets const& offsets) {
  constexpr int texts = Offsets::dims[0] - 1;
  constexpr value_info at{dtype::i32, extents(texts, X::dims.at(0))};
  auto const starts = slice<0, 0, texts>(offsets), ends = slice<0, 1, texts>(offsets);
  tensor_of<at> const token{x.g, iota(*x.g, at.dims, 1).id};
  return logical_and(less_equal(reshape<texts, 1>(starts), token), less(token, reshape<texts, 1>(ends)));
}

// What a pooler makes of what an encoder made of these inputs: ids, and perhaps a key mask, which tells the pooler too what is padding.
constexpr auto pooled_hidden(auto const& pooler, typed_handle auto const& hidden) { return pooler(hidden); }
constexpr auto pooled_hidden(auto const& pooler, typed_handle auto const& hidden, typed_handle auto const& mask, typed_handle auto const&...) { return pooler(hidden, mask); }

template <class Config>
struct first_token {
  static constexpr peel last_layer = peel::last;  // one row of it is read

  template <typed_handle X>
  constexpr auto operator()(X const& x, typed_handle auto const&...) const {
    return reshape<X::dims[0], Config::hidden>(slice<1, 0, 1>(x));
  }
  template <typed_handle Offsets>
  constexpr auto packed(typed_handle auto const& x, Offsets const& offsets) const {
    constexpr int texts = Offsets::dims[0] - 1;
    auto const starts = slice<0, 0, texts>(offsets), ends = slice<0, 1, texts>(offsets);
    return take(x, where(less(starts, ends), starts, -1));
  }
};

template <class Config>
struct mean_token {
  template <typed_handle X>
  constexpr auto operator()(X const& x) const {
    return reshape<X::dims[0], Config::hidden>(mean<1>(x));
  }
  template <typed_handle X, typed_handle Mask>
  constexpr auto operator()(X const& x, Mask const& mask) const {
    static_assert(!is_float(Mask::info.type), "tx::nn::mean_token: which tokens take part is told by true and false, or 1 and 0. FIX: a mask of bool or integers");
    constexpr auto batch = X::dims[0], seq = X::dims[1];
    auto const seen = key_mask(mask);                                                                       // [batch, seq]
    auto const ones = cast<typename X::element_type>(seen);
    auto const total = matmul(reshape<batch, 1, seq>(ones), where(reshape<batch, seq, 1>(seen), x, 0.0));  // [batch, 1, hidden]
    return reshape<batch, Config::hidden>(total) / maximum(sum<-1>(ones), 1.0);
  }
  // A product with [texts, tokens], 1 where a token belongs to a text: little work beside a layer's, and it depends on no text but its own.
  template <typed_handle X, typed_handle Offsets>
  constexpr auto packed(X const& x, Offsets const& offsets) const {
    constexpr int texts = Offsets::dims[0] - 1;
    auto const starts = slice<0, 0, texts>(offsets), ends = slice<0, 1, texts>(offsets);
    auto const own = own_tokens(x, offsets);                                // [texts, tokens]
    auto const total = matmul(cast<typename X::element_type>(own), x);     // [texts, hidden]
    return total / cast<typename X::element_type>(maximum(reshape<texts, 1>(ends - starts), 1));
  }
};

}  // namespace tx::nn
