// A bundle: a tensor, or a tuple or struct of bundles, as what a function gives or an iteration hands to the next.
#pragma once

#include <tx/expr/members.hpp>
#include <tx/expr/tensor.hpp>

#include <tuple>

namespace tx {

namespace detail {
template <class B>
inline constexpr bool is_tuple = false;
template <class... B>
inline constexpr bool is_tuple<std::tuple<B...>> = true;
}  // namespace detail

// Calls f on each tensor of a bundle, in order.
template <class Bundle, class F>
constexpr void for_each_tensor(Bundle& bundle, F f) {
  using type = std::remove_const_t<Bundle>;
  static_assert(typed_handle<type> || std::is_aggregate_v<type> || detail::is_tuple<type>,
                "tx: a result or carry is no tensor. FIX: a tensor, or a struct or std::tuple of tensors");
  if constexpr (typed_handle<type>)
    f(bundle);
  else if constexpr (detail::is_tuple<type>)
    std::apply([&](auto&... member) { (for_each_tensor(member, f), ...); }, bundle);
  else if constexpr (std::is_aggregate_v<type>)
    std::apply([&](auto&... member) { (for_each_tensor(member, f), ...); }, detail::members(bundle));
}

}  // namespace tx
