// A causal language model of bytes: GPT-2's network (Radford et al., Language Models are Unsupervised Multitask Learners, 2019), small.
#pragma once

#include "config.hpp"

#include <tx/expr/repeat.hpp>
#include <tx/expr/state.hpp>
#include <tx/nn/bert_layer.hpp>
#include <tx/nn/embedding.hpp>
#include <tx/nn/multi_head_attention.hpp>
#include <tx/ops/cross_entropy.hpp>
#include <tx/ops/full.hpp>
#include <tx/ops/update_at.hpp>

namespace gpt {

// Keys and values of all places of one text, [1, heads, context, head] each, while it is written byte by byte; nothing for training.
struct no_cache {};
struct cache {
  tx::state<tx::tensor<float, 1, config::heads, config::context, config::hidden / config::heads>> keys, values;
};

template <class Cache>
struct block {
  tx::nn::layer_norm_of<config> ln_1;
  tx::nn::multi_head_attention<config::hidden, config::heads> attn;
  tx::nn::layer_norm_of<config> ln_2;
  tx::nn::linear<config::hidden, config::ffn> fc;
  tx::nn::linear<config::ffn, config::hidden> proj;
  Cache cached;

  // Whole texts: [batch, places, hidden] -> the same
  constexpr auto operator()(tx::typed_handle auto const& x) const { return then_feed(x + tx::dropout(attn(ln_1(x), tx::nn::causal))); }

  // The next byte of a text, at a place, after those before it: [1, 1, hidden] -> the same
  constexpr auto operator()(tx::typed_handle auto const& x, tx::typed_handle auto const& place, tx::typed_handle auto const& known) const {
    auto const in = ln_1(x);
    auto const keys = tx::update_at<2>(cached.keys, attn.keys(in), place);
    auto const values = tx::update_at<2>(cached.values, attn.values(in), place);
    cached.keys.set(keys);
    cached.values.set(values);
    return then_feed(x + attn.attend_to(in, keys, values, known));
  }

 private:
  constexpr auto then_feed(tx::typed_handle auto const& x) const { return x + tx::dropout(proj(tx::gelu(fc(ln_2(x))))); }
};

template <class Cache = no_cache>
struct network {
  tx::nn::embedding<config::bytes, config::hidden> wte;
  tx::nn::embedding<config::context, config::hidden> wpe;
  tx::repeat<config::layers, block<Cache>> h;
  tx::nn::layer_norm_of<config> ln_f;

  // Logits of the byte behind each: [batch, places] -> [batch, places, bytes]
  template <tx::typed_handle Ids>
  constexpr auto operator()(Ids const& ids) const {
    return logits(h(tx::dropout(wte(ids) + wpe.template of_places<1>(ids))));
  }
  // Of one: [1, 1], its place -> [1, 1, bytes]
  constexpr auto next(tx::typed_handle auto const& id, tx::typed_handle auto const& place) const {
    auto const places = tx::iota<1>(tx::zeros<tx::tensor<tx::i32, 1, config::context>>(id));
    auto const position = tx::slice_at<0, 1>(wpe.weight, place);  // [1, hidden]
    return logits(h(wte(id) + position, place, tx::less_equal(places, place)));
  }

 private:
  // The table of bytes is the last layer too.
  constexpr auto logits(tx::typed_handle auto const& x) const { return tx::matmul(ln_f(x), tx::transpose(wte.weight)); }
};

// Texts of places + 1 bytes: each but the last is to foretell the one behind it.
template <int Batch>
inline constexpr auto loss = [](network<> const& m, tx::tensor<tx::i32, Batch, config::context + 1> bytes) {
  auto const logits = m(tx::slice<1, 0, config::context>(bytes));  // [batch, places, bytes]
  auto const behind = tx::reshape<Batch * config::context>(tx::slice<1, 1, config::context>(bytes));
  return tx::cross_entropy(tx::reshape<Batch * config::context, config::bytes>(logits), behind);
};

}  // namespace gpt
