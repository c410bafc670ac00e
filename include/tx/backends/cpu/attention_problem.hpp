// What one call of the attention kernels is about, and the memory that it needs: formulas that the planner shares, without vectors.
//
// Everything is token-major, as linear layers produce it: of a token, the elements of all heads lie side by side.
//   q, out, d_out, d_q  [texts, queries, heads * head]
//   k, v, d_k, d_v      [texts, keys, key_heads * head]
//   greatest, log_sum   [texts, heads, queries], attention_sum<T>: of a query's scores, and the logarithm of the sum of exp(score - greatest)
// Texts may be packed one after the other instead, of unequal length: then q is [tokens, heads * head], and these have `longest` queries of each,
// those past a text's end untouched.
#pragma once

#include <tx/core/dtype.hpp>
#include <tx/core/philox.hpp>
#include <tx/core/random_rows.hpp>

#include <algorithm>
#include <cstddef>

namespace tx::backends::cpu {

// Of what type products and sums are where q, k and v are of T.
template <class T>
using attention_sum = element_t<sum_type(dtype_v<T>)>;

struct attention_sizes {
  std::int64_t texts = 0;
  std::int64_t queries = 0, keys = 0;  // of each text; of packed texts: rows of q and of k, whether or not a text has them
  std::int64_t heads = 0, key_heads = 0, head = 0;  // neighbouring heads / key_heads heads share keys and values; elements of a head
};

// Dropout of the probabilities, as tx::dropout draws it for a tensor [texts, heads, queries, keys]: column j of row (t * heads + h) * queries + i.
// Of packed texts `queries` is that of the longest.
struct attention_dropout {
  f32 rate = 0;  // 0: nothing is drawn
  philox_key key{};
  philox_stream stream{};
  random_rows rows{};
};

// Added to the scores: element (t, h, i, j) at t stride[0] + h stride[1] + i stride[2] + j stride[3], a stride of 0 where it broadcasts.
// Of packed texts i and j are places within the text, and t is the number of the text.
struct attention_bias {
  void const* data = nullptr;  // null: none
  bool in_f32 = true;          // or of the type of q, k and v
  std::int64_t stride[4] = {};
};
// The gradient of a bias, of its type: a sum over each axis whose stride is 0. An element that no score has is left as
// it is, or becomes 0.
struct attention_bias_gradient {
  void* data = nullptr;
  bool in_f32 = true;
  std::int64_t stride[4] = {};
};

// scores[t, h, i, j] = scale * dot(q[t, i, h], k[t, j, h / (heads / key_heads)]) + bias, with a bias at least lowest_score. Those of keys that take no part count as masked_score:
// their weight is 0 beside any ordinary one, and a query without any has equal probabilities for all keys of its text.
template <class T>
struct attention_problem {
  attention_sizes sizes;
  T const* q = nullptr;
  T const* k = nullptr;
  T const* v = nullptr;
  attention_sum<T> scale = 1;

  std::int64_t key_rows = 0;                // rows of memory from one text's keys to the next one's; 0: sizes.keys. Not of packed texts
  std::uint8_t const* key_mask = nullptr;   // [texts, key_rows], or [rows of k]: 0 where a key takes no part
  bool causal = false;                      // the queries are the last of the keys: query i sees keys j <= i + keys - queries
  std::int64_t window = 0;                  // if not 0, a query sees keys with |i + keys - queries - j| < window
  attention_bias bias{};
  attention_dropout dropout{};
  i32 const* query_offsets = nullptr;       // packed texts: [texts + 1], where texts begin among the rows of q; they never fall
  i32 const* key_offsets = nullptr;         // and among those of k
  std::int64_t longest = 0, longest_keys = 0;  // packed texts: queries and keys of each, at most
};

// What forward gives, and backward reads.
template <class T>
struct attention_result {
  T* out = nullptr;
  attention_sum<T> *greatest = nullptr, *log_sum = nullptr;
};

template <class T>
struct attention_gradients {
  T const* out = nullptr;
  attention_sum<T> const *greatest = nullptr, *log_sum = nullptr;
  T const* d_out = nullptr;
  attention_sum<T>* d_q = nullptr;
  attention_sum<T>* d_k = nullptr;
  attention_sum<T>* d_v = nullptr;
  attention_bias_gradient d_bias{};
};

// ---- how the work is cut -----------------------------------------------------------------------------------------------------------------

inline constexpr std::int64_t attention_queries = 64;  // of a block: what the lanes of a tile are
inline constexpr std::int64_t attention_keys = 64;     // of a step
inline constexpr std::int64_t attention_together = 4;  // blocks that pass over the keys together in forward

constexpr std::int64_t attention_columns(std::int64_t head) { return (head + 15) / 16 * 16; }  // whole vectors of the widest kind

// Keys whose gradients a share sums at a time: what, with the keys themselves, takes half of the second-level cache.
constexpr std::int64_t attention_chunk(std::int64_t head) {
  return std::clamp<std::int64_t>(32768 / attention_columns(head) / attention_keys * attention_keys, attention_keys, 512);
}
constexpr std::int64_t attention_chunks(std::int64_t keys, std::int64_t head) { return (keys + attention_chunk(head) - 1) / attention_chunk(head); }

// Where there are few key heads, the keys of a text are cut into stripes as well, each with a sum of its own of what is the gradient of q. This
// depends on the text alone, so that its results do.
constexpr std::int64_t attention_stripes(attention_sizes const& s, std::int64_t keys_of_text) {
  std::int64_t const wanted = s.key_heads >= 8 ? 1 : (8 + s.key_heads - 1) / s.key_heads;
  return std::clamp<std::int64_t>(attention_chunks(keys_of_text, s.head), 1, wanted);
}
// Is d_q of such a text written at once, not through sums of its stripes?
constexpr bool attention_direct(attention_sizes const& s, std::int64_t keys_of_text) { return attention_stripes(s, keys_of_text) == 1; }

// Bytes of scratch of one share, 64-byte aligned, where q, k and v are of `type`. It holds nothing from one share to the next.
constexpr std::int64_t attention_scratch_bytes(std::int64_t head, dtype type) {
  std::int64_t const columns = attention_columns(head);
  std::int64_t const block = attention_queries * columns, step = attention_keys * columns, scores = attention_keys * attention_queries;
  return size_of(sum_type(type)) * (attention_together * (2 * block + 2 * attention_queries) + 3 * scores + attention_queries + 2 * step);
}
constexpr std::int64_t attention_backward_scratch_bytes(std::int64_t head, dtype type) {
  std::int64_t const columns = attention_columns(head);
  std::int64_t const block = attention_queries * columns, chunk = attention_chunk(head) * columns, scores = attention_keys * attention_queries;
  return size_of(sum_type(type)) * (6 * block + 4 * scores + 3 * attention_queries + 4 * chunk);
}
// Bytes that all shares of backward have in common, from the end of attention_backward to that of attention_backward_finish. `s` has bounds.
constexpr std::int64_t attention_sums_bytes(attention_sizes const& s, bool packed, dtype type) {
  if (attention_direct(s, s.keys)) return 0;
  return attention_stripes(s, s.keys) * (packed ? 1 : s.texts) * s.queries * s.heads * s.head * size_of(sum_type(type));
}

}  // namespace tx::backends::cpu
