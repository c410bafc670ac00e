// What scan and repeat have in common: what goes from iteration to iteration, a bundle, what each sees a slice of, and what it gives away.
#pragma once

#include <tx/expr/body_recorder.hpp>
#include <tx/expr/bundle.hpp>
#include <tx/expr/stacked.hpp>

namespace tx {

// What an iteration hands on and what it gives away; and of all iterations the last carry and all that was given away.
template <class Carry, class Out>
struct scanned {
  Carry carry;
  Out out;
};
template <class Carry, class Out>
scanned(Carry, Out) -> scanned<Carry, Out>;

// Of each(xs), xs [N, extents...], each of N iterations is given its slice [extents...].
template <typed_handle X>
struct each_of {
  X all;
};
template <typed_handle X>
constexpr each_of<X> each(X const& all) {
  return {all};
}

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

template <class B>
inline constexpr bool is_struct = !typed_handle<B> && !is_tuple<B> && std::is_class_v<B> && std::is_aggregate_v<B>;

// Of a tensor N of it, of a tuple that of each member, and so of a struct, whose members cannot be of other types.
template <int N, class B>
struct stacked_bundle {
  static_assert(is_struct<B>, "tx::scan, tx::repeat: what an iteration gives away is no tensor. FIX: scanned{carry, out} with a tensor, or a std::tuple or struct of tensors as out");
  using type = typename stacked_bundle<N, decltype(members(std::declval<B&>()))>::type;
};
template <int N, typed_handle B>
struct stacked_bundle<N, B> {
  using type = tensor_of<stacked(B::info, N)>;
};
template <int N, class... B>
struct stacked_bundle<N, std::tuple<B...>> {
  using type = std::tuple<typename stacked_bundle<N, std::remove_cvref_t<B>>::type...>;
};

template <class R>
inline constexpr bool is_scanned = false;
template <class Carry, class Out>
inline constexpr bool is_scanned<scanned<Carry, Out>> = true;

// The carry of what an iteration returned, which may be all of it, and what it gives away, which may be the carry.
template <class Given>
constexpr auto const& carry_of(Given const& given) {
  if constexpr (is_scanned<Given>) return given.carry;
  else return given;
}
template <class Given>
constexpr auto const& out_of(Given const& given) {
  if constexpr (is_scanned<Given>) return given.out;
  else return given;
}

template <class HandedOn, class Given>
constexpr bool is_like();

// The compiler names what differs, which the text of an error cannot.
template <int Member, class HandedOn, class Given>
struct member_of_carry {
  static_assert(is_like<HandedOn, Given>(),
                "tx::scan, tx::repeat: a member of a carry is handed on with another element type or shape than it was given; member_of_carry<number, handed on, given> says which. FIX: cast or reshape it in the carry that is returned");
};
template <class... HandedOn, class... Given, int... Member>
constexpr bool are_like(std::tuple<HandedOn...>*, std::tuple<Given...>*, std::integer_sequence<int, Member...>) {
  if constexpr (sizeof...(HandedOn) != sizeof...(Given)) return false;
  else return ((sizeof(member_of_carry<Member, std::remove_cvref_t<HandedOn>, std::remove_cvref_t<Given>>) > 0) && ...);
}
template <class HandedOn, class Given>
inline constexpr bool tuples_are_like =
    are_like(static_cast<HandedOn*>(nullptr), static_cast<Given*>(nullptr), std::make_integer_sequence<int, static_cast<int>(std::tuple_size_v<Given>)>{});

// Is what an iteration hands on a bundle of the kind that it was given, with tensors of the same element types and shapes?
template <class HandedOn, class Given>
constexpr bool is_like() {
  if constexpr (typed_handle<HandedOn> && typed_handle<Given>) {
    return HandedOn::info == Given::info;
  } else if constexpr (is_tuple<HandedOn> && is_tuple<Given>) {
    return tuples_are_like<HandedOn, Given>;
  } else if constexpr (!std::is_same_v<HandedOn, Given> && is_struct<HandedOn> && is_struct<Given>) {
    static_cast<void>(tuples_are_like<decltype(members(std::declval<HandedOn&>())), decltype(members(std::declval<Given&>()))>);  // which member, if it is one
    return false;
  } else {
    return std::is_same_v<HandedOn, Given>;
  }
}

template <class X>
inline constexpr bool is_each = false;
template <class X>
inline constexpr bool is_each<each_of<X>> = true;

template <class X, int N>
concept slices_of = typed_handle<X> && X::info.dims.rank > 0 && X::info.dims.dim[0] == N && !X::info.dims.is_bounded(0);
// Has it a slice for each of N iterations? What is the same for all has.
template <class X, int N>
inline constexpr bool has_slices = true;
template <class X, int N>
inline constexpr bool has_slices<each_of<X>, N> = slices_of<X, N>;

template <class X>
constexpr int slice_in(body_recorder& body, X const& behind) {
  if constexpr (is_each<X>) return body.slice(behind.all.id);
  else return -1;
}
template <class X>
constexpr X const& as_seen(X const& same, int) {
  return same;
}
template <class X>
constexpr auto as_seen(each_of<X> const& xs, int slice) {
  return tensor_of<unstacked(X::info)>{xs.all.g, slice};
}
// What an iteration returns of its carry and of what stands behind it.
template <class F, class Carry, class... Behind>
constexpr auto iteration_of(body_recorder& body, F const& f, Carry const& carry, Behind const&... behind) {
  return [&]<int... K>(std::integer_sequence<int, K...>) {
    [[maybe_unused]] int const slices[] = {slice_in(body, behind)..., -1};  // in braces: in this order
    return f(carry, as_seen(behind, slices[K])...);
  }(std::make_integer_sequence<int, sizeof...(Behind)>{});
}

template <class... Bundle>
constexpr graph& graph_of_all(Bundle const&... bundles) {
  graph* g = nullptr;
  (for_each_tensor(bundles, [&](auto const& t) { g = t.g; }), ...);
  if (g == nullptr) throw invalid("scan, repeat: a carry that holds no tensor. FIX: a tensor, or a struct or std::tuple of tensors");
  return *g;
}
template <class Bundle>
constexpr void append_ids(Bundle const& bundle, vec<int>& ids) {
  for_each_tensor(bundle, [&](auto const& t) { ids.push_back(t.id); });
}

// The carry as an iteration sees it.
template <class Carry>
constexpr auto carried_into(body_recorder& body, Carry const& carry) {
  static_assert(typed_handle<Carry> || is_tuple<Carry> || is_struct<Carry>, "tx::scan, tx::repeat: a carry is no tensor. FIX: a tensor, or a struct or std::tuple of tensors");
  typename plain<Carry>::type inside = carry;
  for_each_tensor(inside, [&](auto& t) { t.id = body.carry(t.id); });
  return inside;
}

// Ends the iterations -> the last carry; where an iteration gives something away, or AllCarries says that it is what it returned, scanned{last, all}.
template <int N, bool AllCarries = false, class Carried, class Given>
constexpr auto close_iterations(body_recorder& body, graph& g, Carried last, Given const& given) {
  constexpr bool gives_away = is_scanned<Given> || AllCarries;
  auto const& out = out_of(given);
  using stacked_type = stacked_bundle<N, std::remove_cvref_t<decltype(out)>>;
  if constexpr (gives_away) static_assert(sizeof(stacked_type) > 0);  // what is no tensor is told here
  vec<int> next{}, away{};
  append_ids(carry_of(given), next);
  if constexpr (gives_away) append_ids(out, away);
  body.close(next, away);
  int k = 0;
  for_each_tensor(last, [&](auto& t) { t.id = body.last(k++); });
  if constexpr (gives_away) {
    scanned<Carried, typename stacked_type::type> all{last, {}};
    k = 0;
    for_each_tensor(all.out, [&](auto& t) {
      t.g = &g;
      t.id = body.all(k++);
    });
    return all;
  } else {
    return last;
  }
}

}  // namespace detail

}  // namespace tx
