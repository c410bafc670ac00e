// Attention as one op: softmax(scale q k^T) v (Vaswani et al., arXiv 1706.03762), recorded whole so that a target may run it without its scores in
// memory (Dao et al., arXiv 2205.14135); for others passes/expand.hpp writes it as products. Operands are token-major, as linear layers make them:
//   q [texts, queries, heads * head], k, v [texts, keys, key_heads * head]
//   mask [texts, keys], bool: keys that take part; bias [texts, heads, queries, keys], or ones, is added to the scores
//   noise [texts, heads, queries, keys], random numbers that are drawn, and rate, one number: dropout of the probabilities
// Results: out [texts, queries, heads * head], and of each query [texts, heads, queries] its greatest score and the logarithm of the sum of
// exp(score - greatest): apart, as beside a greatest score of 1e9 nothing would be left of the other in one number. A target's kernels may hand them to each other in
// another unit, as powers of two: only the gradient reads them.
// Texts may be packed one after the other, of unequal length: then q is [tokens, heads * head], k and v [tokens, key_heads * head], and in the
// mask's place stand their offsets [texts + 1], i32: text t has the tokens from offsets[t] up to offsets[t + 1], `longest` at most. Queries and
// keys above are places within a text then, `longest` of each. Places past a text's end are neither read nor written. out is 0 for tokens that
// belong to no text: those before the first one and behind the last.
// Keys of packed texts may lie apart from queries, as those of other texts: then k and v are [key tokens, key_heads * head], and behind the queries'
// offsets stand those of keys [texts + 1], i32, `key_longest` of each text at most. A text without keys gives 0.
// Its gradient is an op too, which computes probabilities again from these; one that is to be differentiated again is written out.
// nn/attend.hpp is the front end of models.
// A query that sees no key has equal probabilities for all. Errors: shapes and types that do not fit each other.
#pragma once

#include <tx/ops/attention_rules.hpp>
#include <tx/ops/broadcast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/random.hpp>
#include <tx/ops/written_attention.hpp>

namespace tx {

namespace detail {
constexpr bool bias_of_scores(shape const& from, shape const& to) {
  for (int a = 0; a < 4; ++a)
    if (from.dim[a] != 1 && !(from.at(a) == to.at(a))) return false;
  return from.rank == 4;
}
constexpr shape scores_of(attention_facts const& f, value_info const* in) {
  if (f.packed()) return extents(in[3 + f.query_offsets_at()].dims.dim[0] - 1, f.heads, f.longest, f.longest_keys());
  return extents(in[0].dims.at(0), f.heads, in[0].dims.at(1), in[1].dims.at(1));
}
constexpr void check_packed(attention_facts const& f, value_info const* in) {
  value_info const &q = in[0], &k = in[1], &offsets = in[3 + f.query_offsets_at()];
  if (q.dims.rank != 2 || k.dims.rank != 2 || (!f.keys_apart() && !(q.dims.at(0) == k.dims.at(0))))
    throw invalid("attention: of packed texts it takes q [tokens, heads * head], k and v [tokens, key_heads * head]. FIX: reshape them");
  if (offsets.type != dtype::i32 || offsets.dims.rank != 1 || offsets.dims.bounds != 0 || offsets.dims.dim[0] < 2)
    throw invalid("attention: offsets of packed texts are i32 [texts + 1], of at least one text. FIX: a tensor<tx::i32, texts + 1>");
  if (!(in[3 + f.key_offsets_at()] == offsets)) throw invalid("attention: offsets of keys are i32 [texts + 1], of as many texts as those of queries. FIX: an empty text where one has none");
  if (f.keys_apart() && f.bounds()) throw invalid("attention: where queries stand among keys is not known, as texts of both begin apart. FIX: no causal and no window, or one list of offsets for both");
  if (f.mask || f.first != 0 || f.longest < 0 || f.key_longest < 0) throw invalid("attention: packed texts have no mask, and queries are at their keys' places. FIX: shorter texts, where some tokens take no part");
}
constexpr void check_attention(value_info const* in, int count, attributes const& at) {
  attention_facts const f = attention_facts_of(at);
  if (count != 3 + f.operands()) throw invalid("attention: another number of operands than its attributes say. FIX: offsets, mask, bias, noise and rate, where there are such");
  value_info const &q = in[0], &k = in[1], &v = in[2];
  if (!is_float(q.type) || k.type != q.type || !(v == k)) throw invalid("attention: queries, keys and values need one floating-point type. FIX: cast<T>(x)");
  if (q.type == dtype::e4m3 || (f.bias && in[3 + f.bias_at()].type == dtype::e4m3)) throw invalid("attention: queries, keys, values and biases are no E4M3. FIX: cast<tx::bf16>(x)");
  if (f.packed()) check_packed(f, in);
  else if (f.keys_apart()) throw invalid("attention: keys that lie apart are of packed texts. FIX: a number of tokens that a text of queries has at most");
  else if (q.dims.rank != 3 || k.dims.rank != 3 || !(q.dims.at(0) == k.dims.at(0)))
    throw invalid("attention: it takes q [texts, queries, heads * head], k and v [texts, keys, key_heads * head]. FIX: reshape and transpose them");
  if (f.heads < 1 || f.key_heads < 1 || f.heads % f.key_heads != 0 || q.dims.last() % f.heads != 0 || k.dims.last() * f.heads != q.dims.last() * f.key_heads)
    throw invalid("attention: heads of one width, of which as many share each key head. FIX: a number of heads that the key heads divide");
  if (q.dims.is_bounded(q.dims.rank - 1) || k.dims.is_bounded(k.dims.rank - 1)) throw invalid("attention: the width of heads is bounded. FIX: a fixed one");
  attention_shape const s = attention_shape_of(f, q, k.dims, f.packed() ? in[3 + f.query_offsets_at()].dims : shape{});
  if (s.keys == 0) throw invalid("attention: there are no keys to attend to. FIX: at least one of each text");
  shape const scores = scores_of(f, in);
  value_info const* next = in + 3 + f.mask_at();
  if (f.mask && (next->type != dtype::boolean || next->dims.rank != 2 || !(next->dims.at(0) == scores.at(0)) || !((next++)->dims.at(1) == scores.at(3))))
    throw invalid("attention: a mask is bool [texts, keys]. FIX: compare first, e.g. less(0, mask)");
  if (f.bias && (!is_float(next->type) || !bias_of_scores((next++)->dims, scores)))
    throw invalid("attention: a bias is added to the scores [texts, heads, queries, keys]. FIX: extents of those, or ones");
  if (f.dropout && (next->dims.rank != 4 || !(next->dims.at(2) == scores.at(2)) || !(next->dims.at(3) == scores.at(3)) || next[1].dims.rank != 0))
    throw invalid("attention: dropout takes a random number of each score, and a rate. FIX: uniform(...) of the scores' shape, and one number");
}
constexpr value_info attention_infer(value_info const* in, int count, attributes const& at) {
  check_attention(in, count, at);
  return in[0];
}
constexpr value_info attention_infer_result(value_info const* in, int, attributes const& at, int k) {
  if (k == 0) return in[0];
  attention_facts const f = attention_facts_of(at);
  attention_shape const s = attention_shape_of(f, in[0], in[1].dims, f.packed() ? in[3 + f.query_offsets_at()].dims : shape{});
  if (f.packed()) return {sum_type(in[0].type), extents(static_cast<int>(s.texts), f.heads, static_cast<int>(s.queries))};
  return {sum_type(in[0].type), extents(in[0].dims.at(0), f.heads, in[0].dims.at(1))};
}
// What out's queries `part` read of operand `number`.
constexpr selection attention_part_read(selection const& part, int number, value_info const& of, attributes& at) {
  attention_facts f = attention_facts_of(at);
  if (number == 0) return part;
  selection of_scores = part;
  of_scores.axis = 2;
  bool const bias = f.bias && number == 3 + f.bias_at(), noise = f.dropout && number == 3 + f.noise_at();
  if (f.bounds()) {
    f.first += static_cast<int>(part.start);
    at = attributes_of(f);
  }
  return noise || (bias && of.dims.dim[2] != 1) ? of_scores : selection{};
}
constexpr bool attention_can_narrow(selection const& part, attributes const& at) {
  attention_facts const f = attention_facts_of(at);
  return !f.packed() && part.axis == 1 && (part.step == exactly(1) || !f.bounds());
}
constexpr value_info attention_gradient_infer_result(value_info const* in, int, attributes const& at, int k) {
  attention_facts const f = attention_facts_of(at);
  value_info const& like = in[k < 3 ? 4 + k : 7 + f.bias_at()];
  return {f.rounds && k < 3 ? like.type : sum_type(like.type), like.dims};
}
constexpr value_info attention_gradient_infer(value_info const* in, int count, attributes const& at) {
  check_attention(in + 4, count - 4, at);
  return attention_gradient_infer_result(in, count, at, 0);
}
// Are there as many queries as keys, in the same texts?
constexpr bool as_many_tokens(attention_facts const& f, value_info const* in) {
  if (f.keys_apart()) return false;
  for (int a = 0; a + 1 < in[0].dims.rank; ++a)
    if (!(in[0].dims.at(a) == in[1].dims.at(a))) return false;
  return true;
}
constexpr value_info joined_attention_gradient_infer(value_info const* in, int count, attributes const& at) {
  value_info all = attention_gradient_infer(in, count, at);
  if (!as_many_tokens(attention_facts_of(at), in + 4)) throw invalid("joined_attention_gradient: there are not as many queries as keys. FIX: attention_gradient");
  all.dims.set(all.dims.rank - 1, static_cast<int>(in[4].dims.last() + 2 * in[5].dims.last()));
  return all;
}
constexpr void attention_vjp(vjp_context& c);
}  // namespace detail

// at: see attention_facts.hpp.
inline constexpr op_info attention_info{.name = "attention",
                                        .kind = op_kind::whole,
                                        .arity = -1,
                                        .infer = detail::attention_infer,
                                        .vjp = detail::attention_vjp,
                                        .infer_result = detail::attention_infer_result,
                                        .results = 3,
                                        .part_read = detail::attention_part_read,
                                        .can_narrow = detail::attention_can_narrow,
                                        .multiplied = 3,
                                        .draws = true};
// Operands: the gradient of out, out, the two numbers of each query, then those of attention. Results: the gradients of q, k and v, of f32 where those are halves, unless its facts say that they are rounded.
inline constexpr op_info attention_gradient_info{.name = "attention_gradient",
                                                 .kind = op_kind::whole,
                                                 .arity = -1,
                                                 .infer = detail::attention_gradient_infer,
                                                 .infer_result = detail::attention_gradient_infer_result,
                                                 .results = 3,
                                                 .draws = true};
// The same, and that of the bias.
inline constexpr op_info biased_attention_gradient_info{.name = "biased_attention_gradient",
                                                        .kind = op_kind::whole,
                                                        .arity = -1,
                                                        .infer = detail::attention_gradient_infer,
                                                        .infer_result = detail::attention_gradient_infer_result,
                                                        .results = 4,
                                                        .draws = true};
// The gradients of q, k and v side by side, as passes/joined_gradients.hpp wants them: [texts, tokens, (heads + 2 * key_heads) * head], or [tokens, ...].
inline constexpr op_info joined_attention_gradient_info{.name = "joined_attention_gradient", .kind = op_kind::whole, .arity = -1, .infer = detail::joined_attention_gradient_infer, .draws = true};
template <>
struct partitioned_rule<&attention_info> {
  using type = rules::attention;
};
template <>
struct partitioned_rule<&attention_gradient_info> {
  using type = rules::attention_gradient;
};
template <>
struct partitioned_rule<&biased_attention_gradient_info> {
  using type = rules::attention_gradient;
};
template <>
struct partitioned_rule<&joined_attention_gradient_info> {
  using type = rules::joined_attention_gradient;
};

// Where q stands among the operands of attention or of its gradient, k, v and those behind them following; -1 of another op.
constexpr int attention_operands_at(op_info const* op) {
  if (op == &attention_info) return 0;
  return op == &attention_gradient_info || op == &biased_attention_gradient_info || op == &joined_attention_gradient_info ? 4 : -1;
}

constexpr bool is_attention_gradient(op_info const* op) { return attention_operands_at(op) == 4; }

// in: q, k, v, then those that `f` says.
constexpr var attention(vec<var> const& in, attention_facts const& f) { return result_of(emit_several(attention_info, in, attributes_of(f)), 0); }

namespace detail {
constexpr void attention_vjp(vjp_context& c) {
  if ((c.gradients[1].valid() || c.gradients[2].valid()) && c.g->no_gradient.op == nullptr)
    c.g->no_gradient = {c.self().op, c.g->info(c.id + 2)};  // neither of the two numbers has one
  value_info const like = c.self().info;
  var const of_out = c.gradients[0].valid() ? c.gradients[0] : broadcast_to(constant(*c.g, like.type, 0), like.dims);
  attributes const at = c.at();  // a copy: the table of nodes grows
  attention_facts const f = attention_facts_of(at);
  vec<var> in{of_out, c.out(0), c.out(1), c.out(2)};
  for (int k = 0; k < c.self().inputs; ++k) in.push_back(c.in(k));
  bool const of_bias = f.bias && c.needs(3 + f.bias_at());
  auto const hand_on = [&](auto const& gradient) {
    for (int k = 0; k < 3; ++k)
      if (c.needs(k)) c.accumulate(k, gradient(k));
    if (of_bias) c.accumulate(3 + f.bias_at(), gradient(3));
  };
  if (c.g->gradients_again) {
    vec<int> written{}, operands{};
    for (int k = 4; k < in.size(); ++k) operands.push_back(in[k].id);
    written_attention(*c.g, at, operands.data()).backward(of_out, {}, {}, of_bias, written);
    hand_on([&](int k) { return var{c.g, written[k]}; });
    return;
  }
  var const all = emit_several(of_bias ? biased_attention_gradient_info : attention_gradient_info, in, at);
  hand_on([&](int k) { return result_of(all, k); });
}
}  // namespace detail

}  // namespace tx
