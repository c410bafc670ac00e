// bert_embeddings<Config>: the vectors of tokens, of their places and of their types, added, a norm and dropout, as BERT (Devlin et al., arXiv 1810.04805) and
// what came of it have them. ids [batch, seq] -> [batch, seq, width]. Members are named as Hugging Face names them. Config: vocabulary, positions, types (0:
// tokens have none), hidden, and perhaps
//   first_position   the row of a text's first token; RoBERTa's is 2, behind that of its padding
//   embedding        the width of these vectors, where it is not `hidden` (ELECTRA)
#pragma once

#include <tx/nn/embedding.hpp>
#include <tx/nn/layer_norm_of.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/in_range.hpp>
#include <tx/ops/lift.hpp>

namespace tx::nn {

namespace detail {
template <class Config>
inline constexpr int first_position_of = 0;
template <class Config>
  requires requires { Config::first_position; }
inline constexpr int first_position_of<Config> = Config::first_position;

template <class Config>
inline constexpr int embedding_width_of = Config::hidden;
template <class Config>
  requires requires { Config::embedding; }
inline constexpr int embedding_width_of<Config> = Config::embedding;

struct no_types {};
// Places of tokens for which there are rows: the argument that they come from is looked at before a run.
template <int Rows>
struct places_below {
  constexpr var operator()(var places) const { return in_range(places, 0, Rows); }
};

template <int Types, int Width>
struct token_types {
  using type = embedding<Types, Width>;
};
template <int Width>
struct token_types<0, Width> {
  using type = no_types;
};
}  // namespace detail

template <class Config>
struct bert_embeddings {
  static constexpr int width = detail::embedding_width_of<Config>, first_position = detail::first_position_of<Config>;

  embedding<Config::vocabulary, width, embedding_group> word_embeddings;
  embedding<Config::positions, width> position_embeddings;
  typename detail::token_types<Config::types, width>::type token_type_embeddings;
  layer_norm<width, typename detail::epsilon_of<Config>::type> LayerNorm;

  // ids [batch, seq] and perhaps the type of each token -> [batch, seq, width]; without types all tokens are of type 0
  template <typed_handle Ids>
  constexpr auto operator()(Ids const& ids, typed_handle auto const&... types) const {
    static_assert(Ids::dims.rank == 2, "tx::nn::bert_embeddings: ids are [batch, seq]. FIX: reshape<1, seq>(ids) for one text");
    auto const sum = with_types(word_embeddings(ids), types...);
    return dropout(LayerNorm(sum + position_embeddings.template of_places<1, first_position>(ids)));
  }
  // Packed texts: ids, positions within their texts, perhaps types, each [tokens] -> [tokens, width]
  constexpr auto packed(typed_handle auto const& ids, typed_handle auto const& positions, typed_handle auto const&... types) const {
    if constexpr (first_position == 0) return packed_at(ids, positions, types...);
    else return packed_at(ids, lift<detail::places_below<Config::positions - first_position>>(positions) + first_position, types...);
  }

 private:
  constexpr auto packed_at(typed_handle auto const& ids, typed_handle auto const& rows, typed_handle auto const&... types) const {
    auto const sum = with_types(word_embeddings(ids), types...);
    return dropout(LayerNorm(sum + position_embeddings(rows)));
  }
  constexpr auto with_types(typed_handle auto const& words) const {
    if constexpr (Config::types == 0) return words;
    else return words + token_type_embeddings.template first<1>();
  }
  constexpr auto with_types(typed_handle auto const& words, typed_handle auto const& types) const {
    static_assert(Config::types > 0, "tx::nn::bert_embeddings: tokens of this configuration have no types. FIX: leave them out");
    return words + token_type_embeddings(types);
  }
};

}  // namespace tx::nn
