// Attention as a kernel of the CPU backend: a call's operands become the problem that attention.hpp solves. Where it is planned is told in
// target.hpp; what the fast kernels do not take, as queries in places of their own, is computed by the op's own rule.
#pragma once

#include <tx/backends/cpu/attention_backward.hpp>
#include <tx/backends/cpu/attention_finish.hpp>
#include <tx/backends/cpu/attention_forward.hpp>
#include <tx/backends/cpu/kernels.hpp>
#include <tx/backends/cpu/target.hpp>
#include <tx/ops/attention_rules.hpp>

namespace tx::backends::cpu {

namespace detail {

// Operands of a call behind the values: which of them are the mask, the bias, the noise and the rate is told by the attributes.
// T: of q, k and v.
template <class T, class... In>
struct attention_call {
  exec::frame const& f;
  exec::call const& c;
  exec::operand_ref const* operands;
  int first;  // of q
  attention_facts facts = attention_facts_of(c.at);

  // Of operand k; the facts say which there are.
  static constexpr exec::in_sig signature(int k) {
    constexpr exec::in_sig all[] = {In::sig...};
    return k < static_cast<int>(sizeof...(In)) ? all[k] : exec::in_sig{};
  }

  template <class E>
  E* data(int k) const {
    return f.at<E>(operands[k]);
  }
  attention_bias bias() const {
    if (!facts.bias) return {};
    int const at = first + 3 + facts.bias_at();
    attention_bias b{data<void>(at), signature(at).type == dtype::f32, {}};
    shape const dims = f.dims(operands[at]);
    std::int64_t step = 1;
    for (int a = 3; a >= 0; --a) {
      b.stride[a] = dims.dim[a] == 1 ? 0 : step;
      step *= dims.dim[a];
    }
    return b;
  }
  // A bias may be of f32, and where sums are f64 of those; of what else it is, is read by the rule.
  static constexpr bool takes_bias(dtype type) { return type == dtype::f32 || type == sum_type(dtype_v<T>); }

  f32 rate() const { return facts.dropout ? *data<f32 const>(first + 3 + facts.rate_at()) : 0; }

  attention_problem<T> problem() const {
    shape const q = f.dims(operands[first]), k = f.dims(operands[first + 1]);
    attention_problem<T> p{{q.dim[0], q.dim[1], k.dim[1], facts.heads, facts.key_heads, q.last() / facts.heads}, data<T const>(first),
                           data<T const>(first + 1), data<T const>(first + 2)};
    if (facts.packed()) {
      int const behind = first + 3;
      p.sizes.texts = f.dims(operands[behind + facts.query_offsets_at()]).dim[0] - 1;
      p.sizes.queries = q.dim[0];
      p.sizes.keys = k.dim[0];
      p.query_offsets = data<i32 const>(behind + facts.query_offsets_at());
      p.key_offsets = data<i32 const>(behind + facts.key_offsets_at());
      p.longest = facts.longest;
      p.longest_keys = facts.longest_keys();
    }
    if (facts.mask) p.key_mask = data<std::uint8_t const>(first + 3 + facts.mask_at());
    p.scale = static_cast<attention_sum<T>>(facts.scale);
    p.causal = facts.causal;
    p.window = facts.window;
    p.bias = bias();
    if (facts.dropout) {
      exec::operand_ref const& noise = operands[first + 3 + facts.noise_at()];
      p.dropout = {rate(), f.key, f.stream(noise), f.rows_drawn(noise)};
    }
    return p;
  }
  // Do the kernels take it? Numbers that are read and not drawn, other types, and queries elsewhere than at the end of the keys they do not.
  bool is_taken() const {
    if (facts.mask && signature(first + 3 + facts.mask_at()).type != dtype::boolean) return false;
    if (facts.bias && !takes_bias(signature(first + 3 + facts.bias_at()).type)) return false;
    if (facts.dropout && (signature(first + 3 + facts.noise_at()).how != exec::access::random || signature(first + 3 + facts.rate_at()).type != dtype::f32)) return false;
    if (facts.dropout && !(rate() >= 0 && rate() < 1)) return false;
    shape const q = f.dims(operands[first]), k = f.dims(operands[first + 1]);
    return facts.packed() || !facts.bounds() || facts.first == k.dim[1] - q.dim[1];
  }
};

// Multiplications and more for each score: what for_shares weighs against waking threads.
template <class T>
std::int64_t attention_work(attention_problem<T> const& p) {
  std::int64_t const keys = p.query_offsets == nullptr ? p.sizes.texts * p.sizes.keys : p.longest_keys;
  return p.sizes.heads * p.sizes.queries * keys;
}

// By the op's rule.
template <class Signature>
void run_rule(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands, int result) {
  for_shares(f.threads, f.dims(operands[result]).count(), [&](int s) { exec::run_share(Signature{}, s, shares, f, c, operands); });
}

}  // namespace detail

template <dtype D, dtype Sum, class... In>
  requires(is_float(D) && Sum == sum_type(D))
struct kernel<exec::whole<rules::attention, exec::elements<D, Sum, Sum>, exec::ins<In...>>> {
  using signature = exec::whole<rules::attention, exec::elements<D, Sum, Sum>, exec::ins<In...>>;
  using T = element_t<D>;
  using S = element_t<Sum>;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    constexpr int out = static_cast<int>(sizeof...(In));
    detail::attention_call<T, In...> const call{f, c, operands, 0};
    if (!call.is_taken()) return detail::run_rule<signature>(f, c, operands, out);
    attention_problem<T> const p = call.problem();
    attention_result<T> const result{call.template data<T>(out), call.template data<S>(out + 1), call.template data<S>(out + 2)};
    std::int64_t const each = aligned(attention_scratch_bytes(p.sizes.head, D));
    for_shares(f.threads, detail::attention_work(p), [&](int s) { attention_forward<T>(s, shares, p, result, f.scratch(c) + s * each); });
  }
};

template <dtype Sum, dtype... OfBias, class SlopeOut, class Out, class Greatest, class LogSum, class Q, class... In>
  requires(is_float(Q::sig.type) && Sum == sum_type(Q::sig.type) && sizeof...(OfBias) <= 1)
struct kernel<exec::whole<rules::attention_gradient, exec::elements<Sum, Sum, Sum, OfBias...>, exec::ins<SlopeOut, Out, Greatest, LogSum, Q, In...>>> {
  using signature = exec::whole<rules::attention_gradient, exec::elements<Sum, Sum, Sum, OfBias...>, exec::ins<SlopeOut, Out, Greatest, LogSum, Q, In...>>;
  using T = element_t<Q::sig.type>;
  using S = element_t<Sum>;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    constexpr int d_q = 5 + static_cast<int>(sizeof...(In));
    constexpr bool of_one_type = SlopeOut::sig.type == Q::sig.type && Out::sig.type == Q::sig.type;
    detail::attention_call<T, SlopeOut, Out, Greatest, LogSum, Q, In...> const call{f, c, operands, 4};
    if (!of_one_type || !call.is_taken()) return detail::run_rule<signature>(f, c, operands, d_q);
    attention_problem<T> const p = call.problem();
    attention_gradients<T> g{call.template data<T const>(1), call.template data<S const>(2), call.template data<S const>(3), call.template data<T const>(0),
                             call.template data<S>(d_q), call.template data<S>(d_q + 1), call.template data<S>(d_q + 2)};
    if constexpr (sizeof...(OfBias) == 1) {
      g.d_bias = {call.template data<void>(d_q + 3), ((OfBias == dtype::f32) && ...), {}};
      for (int a = 0; a < 4; ++a) g.d_bias.stride[a] = p.bias.stride[a];
      bool const no_scores = p.sizes.texts * p.sizes.queries * p.sizes.keys == 0;
      if (call.facts.packed() || no_scores)  // past a text's end are none either
        (std::fill_n(call.template data<element_t<OfBias>>(d_q + 3), f.dims(operands[d_q + 3]).count(), element_t<OfBias>{}), ...);
    }
    std::int64_t const each = aligned(attention_backward_scratch_bytes(p.sizes.head, dtype_v<T>));
    std::byte* const sums = f.scratch(c) + shares * each;
    std::int64_t const work = 2 * detail::attention_work(p);
    for_shares(f.threads, work, [&](int s) { attention_backward<T>(s, shares, p, g, sums, f.scratch(c) + s * each); });
    for_shares(f.threads, work, [&](int s) { attention_backward_finish<T>(s, shares, p, g, sums, f.scratch(c) + s * each); });
  }
};

}  // namespace tx::backends::cpu
