// What a node of attention is about besides its operands: the attributes of ops/attention.hpp, by name.
#pragma once

#include <tx/graph/op_info.hpp>

namespace tx {

// A score that softmax turns into exactly 0 beside any ordinary one. Where all scores of a query are this one, their probabilities are equal, not NaN. It is a
// number of f32, so that it is the same wherever it is kept.
inline constexpr double masked_score = static_cast<double>(-1e30f);
// A score of a key that takes part is no lower, whatever its bias: masks that are added, as -infinity or the lowest number of a type, leave it above
// those that do not take part, and without NaN.
inline constexpr double lowest_score = static_cast<double>(-1e29f);

struct attention_facts {
  int heads = 1, key_heads = 1;  // neighbouring heads / key_heads heads share keys and values
  bool causal = false;           // query i, which has place first + i among the keys, sees keys up to its own place
  int window = 0;                // if not 0, it sees keys less than so many places away
  int first = 0;
  bool mask = false, bias = false, dropout = false;  // which operands there are behind the values
  int longest = 0;  // if not 0, texts are packed one after the other, of at most so many tokens each: their offsets are the first of those operands
  int key_longest = 0;  // if not 0, packed keys lie apart from queries, at most so many of each text: their offsets are the second of those operands
  bool rounds = false;  // of the gradient: those of q, k and v are halves as these are, not f32
  double scale = 1;     // of a query's product with a key: a score is that, and its bias

  TX_HD constexpr bool sees(std::int64_t query, std::int64_t key) const {
    std::int64_t const ahead = key - (first + query);
    return (!causal || ahead <= 0) && (window == 0 || (ahead < window && -ahead < window));
  }
  constexpr bool bounds() const { return causal || window != 0; }
  TX_HD constexpr bool packed() const { return longest != 0; }
  TX_HD constexpr bool keys_apart() const { return key_longest != 0; }
  TX_HD constexpr int longest_keys() const { return keys_apart() ? key_longest : longest; }
  // Among the operands behind the values. Where queries and keys lie together, one list of offsets is that of both.
  TX_HD constexpr int offset_lists() const { return packed() + keys_apart(); }
  TX_HD constexpr int query_offsets_at() const { return 0; }
  TX_HD constexpr int key_offsets_at() const { return keys_apart() ? 1 : 0; }
  TX_HD constexpr int mask_at() const { return offset_lists(); }
  TX_HD constexpr int bias_at() const { return mask_at() + mask; }
  TX_HD constexpr int noise_at() const { return bias_at() + bias; }
  TX_HD constexpr int rate_at() const { return noise_at() + 1; }
  constexpr int operands() const { return noise_at() + 2 * dropout; }
};

namespace detail {
// Two numbers as one attribute, the first alone where the second is 0.
constexpr std::int64_t both(int first, int second) { return (static_cast<std::int64_t>(second) << 32) | static_cast<std::uint32_t>(first); }
TX_HD constexpr int first_of(std::int64_t both) { return static_cast<int>(static_cast<std::uint32_t>(both)); }
TX_HD constexpr int second_of(std::int64_t both) { return static_cast<int>(both >> 32); }
// 0 where it is 1.
TX_HD constexpr std::int64_t bits_of_scale(double scale) { return __builtin_bit_cast(std::int64_t, scale) ^ __builtin_bit_cast(std::int64_t, 1.0); }
TX_HD constexpr double scale_of(std::int64_t bits) { return __builtin_bit_cast(double, bits ^ __builtin_bit_cast(std::int64_t, 1.0)); }
}  // namespace detail

constexpr attributes attributes_of(attention_facts const& f) {
  return {{f.heads, f.key_heads, f.causal + 2 * f.mask + 4 * f.bias + 8 * f.dropout + 16 * f.rounds, detail::both(f.window, f.first), detail::bits_of_scale(f.scale), detail::both(f.longest, f.key_longest)}};
}
TX_HD constexpr attention_facts attention_facts_of(attributes const& at) {
  attention_facts f{};
  f.heads = static_cast<int>(at.v[0]);
  f.key_heads = static_cast<int>(at.v[1]);
  f.causal = (at.v[2] & 1) != 0;
  f.mask = (at.v[2] & 2) != 0;
  f.bias = (at.v[2] & 4) != 0;
  f.dropout = (at.v[2] & 8) != 0;
  f.rounds = (at.v[2] & 16) != 0;
  f.window = detail::first_of(at.v[3]);
  f.first = detail::second_of(at.v[3]);
  f.scale = detail::scale_of(at.v[4]);
  f.longest = detail::first_of(at.v[5]);
  f.key_longest = detail::second_of(at.v[5]);
  return f;
}

// What a target is asked whether it has a kernel for (plan/target.hpp).
struct attention_shape {
  std::int64_t texts = 0, queries = 0, keys = 0, heads = 0, key_heads = 0, head = 0;  // of packed texts, queries and keys of the longest
  dtype type = dtype::f32;
  bool packed = false;
  bool bias = false;
  dtype bias_type = dtype::f32;  // if there is one
};
// q, k: their shapes; offsets: that of the first operand behind the values, of packed texts.
constexpr attention_shape attention_shape_of(attention_facts const& f, value_info const& q, shape const& k, shape const& offsets, dtype bias = dtype::f32) {
  attention_shape s{q.dims.dim[0], q.dims.dim[1], k.dim[1], f.heads, f.key_heads, q.dims.last() / f.heads, q.type, f.packed(), f.bias, bias};
  if (!s.packed) return s;
  s.texts = offsets.dim[0] - 1;
  s.queries = f.longest;
  s.keys = f.longest_keys();
  return s;
}

}  // namespace tx
