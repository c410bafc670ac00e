// scan<N>(f, carry, slices...): N iterations of f, one after the other, recorded and compiled once, as jax.lax.scan.
// carry [batch, hidden], slices [N, batch, in] -> last [batch, hidden], stacked [N, batch, out].
//
//   auto const [last, all] = tx::scan<16>([&](auto h, auto x) { auto const next = cell(h, x); return tx::scanned{next, next}; }, h0, xs);
//   // h0 [batch, hidden], xs [16, batch, in] -> last [batch, hidden], all [16, batch, hidden]
//
// carry   a tensor, or a tuple or struct of tensors; what f gives is the next iteration's
// slices  tensors of N along the leading axis; iteration i is given slice i
// f(carry, slice...) -> the next carry, or scanned{carry, out}: out, a tensor or a tuple of tensors, is stacked along a new leading axis; of a struct
//         each member is, and handed out in a tuple
// Other tensors that f uses, and parameters, are the same for each iteration. A scan may stand in the body of another one. Errors, while
// compiling: a carry that changes its type or shape, a slice of another number than N.
#pragma once

#include <tx/expr/iterations.hpp>

namespace tx {

// In which order a scan goes through its slices.
enum class direction : std::uint8_t { forward, backward };

template <int N, direction Way = direction::forward, class F, class Carry, class... Slices>
constexpr auto scan(F const& f, Carry const& carry, Slices const&... slices) {
  static_assert(N > 0, "tx::scan: at least one iteration. FIX: scan<N> with N of at least 1");
  static_assert(!(detail::is_each<Slices> || ...), "tx::scan: what stands behind the carry is given slice by slice as it is. FIX: xs without tx::each");
  static_assert(((detail::is_each<Slices> || detail::slices_of<Slices, N>) && ...),
                "tx::scan: each iteration has a slice of the tensors behind the carry, and one of them has another leading extent than there are iterations. FIX: scan<N> with their leading extent, or transpose that axis to the front");
  graph& g = detail::graph_of_all(carry, slices...);
  detail::body_recorder body(g, N, Way == direction::backward);
  auto const inside = detail::carried_into(body, carry);
  auto const given = detail::iteration_of(body, f, inside, each(slices)...);
  static_assert(detail::is_like<std::remove_cvref_t<decltype(detail::carry_of(given))>, std::remove_const_t<decltype(inside)>>(),
                "tx::scan: the body hands on another type or shape than it was given. FIX: cast or reshape the carry that it returns");
  return detail::close_iterations<N>(body, g, inside, given);
}

}  // namespace tx
