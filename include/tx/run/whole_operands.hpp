// What the rule of an op on whole operands is handed, made of a call's operands.
#pragma once

#include <tx/ops/partitioned.hpp>
#include <tx/run/frame.hpp>

namespace tx::exec {

template <dtype D>
whole_operand<element_t<D>> whole_result(frame const& f, operand_ref const& r) {
  return {f.at<element_t<D>>(r), f.dims(r)};
}
// In: exec::in<type, access>; random numbers are not read but drawn by the rule.
template <class In>
auto whole_input(frame const& f, operand_ref const& r) {
  using T = element_t<In::sig.type> const;
  if constexpr (In::sig.how == access::random) return drawn_operand{f.key, f.stream(r), f.rows_drawn(r), f.dims(r)};
  else return whole_operand<T>{f.at<T>(r), f.dims(r)};
}

// The rule's share number `share` of `shares`.
template <class Rule, dtype... Out, class... In>
void run_share(whole<Rule, elements<Out...>, ins<In...>>, int share, int shares, frame const& f, call const& c, operand_ref const* operands) {
  [&]<int... O, int... K>(std::integer_sequence<int, O...>, std::integer_sequence<int, K...>) {
    Rule::run(share, shares, c.at, whole_result<Out>(f, operands[static_cast<int>(sizeof...(In)) + O])..., whole_input<In>(f, operands[K])...);
  }(std::make_integer_sequence<int, sizeof...(Out)>{}, std::make_integer_sequence<int, sizeof...(In)>{});
}

}  // namespace tx::exec
