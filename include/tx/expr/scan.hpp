// scan<N>(f, carry, slices...): N iterations of f, one after the other, recorded and compiled once, as jax.lax.scan.
// carry [batch, hidden], slices [N, batch, in] -> last [batch, hidden], stacked [N, batch, out].
//
//   auto const [last, all] = tx::scan<16>([&](auto h, auto x) { auto const next = cell(h, x); return tx::scanned{next, next}; }, h0, xs);
//   // h0 [batch, hidden], xs [16, batch, in] -> last [batch, hidden], all [16, batch, hidden]
//
// carry   a tensor, or a tuple or struct of tensors; what f gives is the next iteration's
// slices  tensors of N along the leading axis; iteration i is given slice i
// f(carry, slice...) -> the next carry, or scanned{carry, out}: out, a tensor or a tuple of tensors, is stacked along a new leading axis
// Other tensors that f uses, and parameters, are the same for each iteration. A scan may stand in the body of another one. Errors, while
// compiling: a carry that changes its type or shape, a slice of another number than N.
#pragma once

#include <tx/expr/body_recorder.hpp>
#include <tx/expr/bundle.hpp>
#include <tx/expr/stacked.hpp>

namespace tx {

// What an iteration hands on and what it gives away; and of a whole scan the last carry and all that was given away.
template <class Carry, class Out>
struct scanned {
  Carry carry;
  Out out;
};
template <class Carry, class Out>
scanned(Carry, Out) -> scanned<Carry, Out>;

// In which order a scan goes through its slices.
enum class direction : std::uint8_t { forward, backward };

namespace detail {

// A bundle's type with handles in place of parameters.
template <class B>
struct plain {
  using type = B;
};
template <typed_handle B>
struct plain<B> {
  using type = typename B::tensor_type;
};
template <class... B>
struct plain<std::tuple<B...>> {
  using type = std::tuple<typename plain<B>::type...>;
};

template <int N, class B>
struct stacked_bundle {
  static_assert(typed_handle<B>, "tx::scan: what an iteration gives away is no tensor. FIX: scanned{carry, out} with a tensor or a std::tuple of tensors as out");
};
template <int N, typed_handle B>
struct stacked_bundle<N, B> {
  using type = tensor_of<stacked(B::info, N)>;
};
template <int N, class... B>
struct stacked_bundle<N, std::tuple<B...>> {
  using type = std::tuple<typename stacked_bundle<N, B>::type...>;
};

template <class R>
inline constexpr bool is_scanned = false;
template <class Carry, class Out>
inline constexpr bool is_scanned<scanned<Carry, Out>> = true;

template <class S, int N>
concept slices_of = typed_handle<S> && S::info.dims.rank > 0 && S::info.dims.dim[0] == N;

template <class Bundle>
constexpr graph* graph_of_bundle(Bundle const& bundle) {
  graph* g = nullptr;
  for_each_tensor(bundle, [&](auto const& t) { g = t.g; });
  return g;
}
template <class Bundle>
constexpr void append_ids(Bundle const& bundle, vec<int>& ids) {
  for_each_tensor(bundle, [&](auto const& t) { ids.push_back(t.id); });
}

}  // namespace detail

template <int N, direction Way = direction::forward, class F, class Carry, class... Slices>
constexpr auto scan(F const& f, Carry const& carry, Slices const&... slices) {
  static_assert(N > 0, "tx::scan: at least one iteration. FIX: scan<N> with N of at least 1");
  static_assert((detail::slices_of<Slices, N> && ...),
                "tx::scan: each iteration has a slice of the tensors behind the carry, and one of them has another leading extent than there are iterations. FIX: scan<N> with their leading extent, or transpose that axis to the front");
  using carried = typename detail::plain<Carry>::type;
  graph* g = detail::graph_of_bundle(carry);
  ((g = slices.g), ...);

  detail::body_recorder body(*g, N, Way == direction::backward);
  carried inside = carry;
  for_each_tensor(inside, [&](auto& t) { t.id = body.carry(t.id); });
  std::tuple<tensor_of<detail::unstacked(Slices::info)>...> const own{{g, body.slice(slices.id)}...};  // in braces: in this order
  auto const given = std::apply([&](auto const&... slice) { return f(static_cast<carried const&>(inside), slice...); }, own);

  vec<int> next{}, stacked{};
  if constexpr (detail::is_scanned<std::remove_const_t<decltype(given)>>) {
    using out = typename detail::stacked_bundle<N, std::remove_const_t<decltype(given.out)>>::type;
    static_assert(std::is_same_v<typename detail::plain<std::remove_const_t<decltype(given.carry)>>::type, carried>,
                  "tx::scan: the body hands on another type or shape than it was given. FIX: cast or reshape the carry that it returns");
    detail::append_ids(given.carry, next);
    detail::append_ids(given.out, stacked);
    body.close(next, stacked);
    scanned<carried, out> all{carry, {}};
    int k = 0;
    for_each_tensor(all.carry, [&](auto& t) { t.id = body.last(k++); });
    k = 0;
    for_each_tensor(all.out, [&](auto& t) {
      t.g = g;
      t.id = body.all(k++);
    });
    return all;
  } else {
    static_assert(std::is_same_v<typename detail::plain<std::remove_const_t<decltype(given)>>::type, carried>,
                  "tx::scan: the body hands on another type or shape than it was given. FIX: cast or reshape the carry that it returns");
    detail::append_ids(given, next);
    body.close(next, stacked);
    carried last = carry;
    int k = 0;
    for_each_tensor(last, [&](auto& t) { t.id = body.last(k++); });
    return last;
  }
}

}  // namespace tx
