// multi_head_attention<H, Heads, KeyHeads, Memory>: attention of H numbers wide, with its projections. x [batch, queries, H] -> the same; KeyHeads,
// as many as Heads unless said, share keys and values among neighbouring heads; Memory is the width of what is attended to, H unless said.
//   attention(x)                      to itself                    attention(x, tx::nn::causal)         only to what stands before
//   attention(x, key_mask)            to what takes part           attention(x, memory, key_mask)       to another sequence [batch, keys, Memory]
// What may stand behind them is told in attend.hpp. keys(m) and values(m) are the projections by themselves, [batch, keys, Memory] ->
// [batch, key heads, keys, head], and attend_to(x, keys, values, how...) takes them: a cache holds them from run to run.
// Members are named as Llama's are in Hugging Face's files. Errors: heads that do not divide the width, shapes that do not fit.
#pragma once

#include <tx/nn/attend.hpp>
#include <tx/nn/linear.hpp>

namespace tx::nn {

template <int H, int Heads, int KeyHeads = Heads, int Memory = H>
struct multi_head_attention {
  static_assert(H % Heads == 0, "tx::nn::multi_head_attention: the width is no multiple of the number of heads. FIX: change one of the two");
  static constexpr int head_width = H / Heads;

  linear<H, H> q_proj;
  linear<Memory, KeyHeads * head_width> k_proj, v_proj;
  linear<H, H> o_proj;

  template <typed_handle X, class... How>
  constexpr auto operator()(X const& x, How const&... how) const {
    return of(x, how...);
  }

  constexpr auto keys(typed_handle auto const& m) const { return heads_of<KeyHeads>(k_proj(m)); }
  constexpr auto values(typed_handle auto const& m) const { return heads_of<KeyHeads>(v_proj(m)); }
  template <typed_handle X, class... How>
  constexpr auto attend_to(X const& x, typed_handle auto const& k, typed_handle auto const& v, How const&... how) const {
    static_assert(X::dims.rank == 3, "tx::nn::multi_head_attention: it takes a tensor [batch, queries, width]. FIX: reshape<batch, queries, width>(x)");
    auto const mixed = attend(heads_of<Heads>(q_proj(x)), k, v, how...);  // [batch, heads, queries, head]
    return o_proj(reshape<X::dims[0], X::dims[1], H>(transpose<0, 2, 1, 3>(mixed)));
  }

 private:
  // [batch, places, heads head] -> [batch, heads, places, head]
  template <int Count, typed_handle X>
  static constexpr auto heads_of(X const& x) {
    return transpose<0, 2, 1, 3>(reshape<X::dims[0], X::dims[1], Count, head_width>(x));
  }
  template <typed_handle X, class... How>
  constexpr auto of(X const& x, How const&... how) const {
    return attend_to(x, keys(x), values(x), how...);
  }
  template <typed_handle X, typed_handle M, class... How>
    requires(M::dims.rank == 3)
  constexpr auto of(X const& x, M const& memory, How const&... how) const {
    return attend_to(x, keys(memory), values(memory), how...);
  }
};

}  // namespace tx::nn
