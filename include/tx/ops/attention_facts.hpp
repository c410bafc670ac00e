// What a node of attention is about besides its operands: the attributes of ops/attention.hpp, by name.
#pragma once

#include <tx/graph/op_info.hpp>

namespace tx {

// A score that softmax turns into exactly 0 beside any ordinary one; among its equals it gives equal shares, never NaN.
inline constexpr double masked_score = -1e30;

struct attention_facts {
  int heads = 1, key_heads = 1;  // neighbouring heads / key_heads heads share keys and values
  bool causal = false;           // query i, which has place first + i among the keys, sees keys up to its own place
  int window = 0;                // if not 0, it sees keys less than so many places away
  int first = 0;
  bool mask = false, bias = false, dropout = false;  // which operands there are behind the values
  int longest = 0;  // if not 0, texts are packed one after the other, of at most so many tokens each: their offsets are the first of those operands

  TX_HD constexpr bool sees(std::int64_t query, std::int64_t key) const {
    std::int64_t const ahead = key - (first + query);
    return (!causal || ahead <= 0) && (window == 0 || (ahead < window && -ahead < window));
  }
  constexpr bool bounds() const { return causal || window != 0; }
  TX_HD constexpr bool packed() const { return longest != 0; }
  TX_HD constexpr int bias_at() const { return packed() + mask; }  // among the operands behind the values
  TX_HD constexpr int noise_at() const { return packed() + mask + bias; }
  constexpr int operands() const { return packed() + mask + bias + 2 * dropout; }
};

constexpr attributes attributes_of(attention_facts const& f) {
  return {{f.heads, f.key_heads, f.causal + 2 * f.mask + 4 * f.bias + 8 * f.dropout, f.window, f.first, f.longest}};
}
TX_HD constexpr attention_facts attention_facts_of(attributes const& at) {
  attention_facts f{};
  f.heads = static_cast<int>(at.v[0]);
  f.key_heads = static_cast<int>(at.v[1]);
  f.causal = (at.v[2] & 1) != 0;
  f.mask = (at.v[2] & 2) != 0;
  f.bias = (at.v[2] & 4) != 0;
  f.dropout = (at.v[2] & 8) != 0;
  f.window = static_cast<int>(at.v[3]);
  f.first = static_cast<int>(at.v[4]);
  f.longest = static_cast<int>(at.v[5]);
  return f;
}

// What a target is asked whether it has a kernel for (plan/target.hpp).
struct attention_shape {
  std::int64_t texts = 0, queries = 0, keys = 0, heads = 0, key_heads = 0, head = 0;  // of packed texts, queries and keys of the longest
  dtype type = dtype::f32;
  bool packed = false;
};
// q, k: their shapes; offsets: that of the operand behind the values, of packed texts.
constexpr attention_shape attention_shape_of(attention_facts const& f, value_info const& q, shape const& k, shape const& offsets) {
  attention_shape s{q.dims.dim[0], q.dims.dim[1], k.dim[1], f.heads, f.key_heads, q.dims.last() / f.heads, q.type, f.packed()};
  if (!s.packed) return s;
  s.texts = offsets.dim[0] - 1;
  s.queries = s.keys = f.longest;
  return s;
}

}  // namespace tx
