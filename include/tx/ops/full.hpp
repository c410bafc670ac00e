// full(x, number), zeros(x), ones(x): a tensor of x's shape and type that holds one number everywhere, as torch.full_like. [...] -> the same. Takes no memory.
// zeros<tensor<f32, 8, 64>>(x): of that type instead; x tells which program it is part of.
#pragma once

#include <tx/ops/broadcast.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/lift.hpp>

namespace tx {

namespace detail {
struct full_fn {
  constexpr var operator()(var like, var value) const { return broadcast_to(cast(value, like.type()), like.dims()); }
};
}  // namespace detail

template <handle X, number V>
constexpr auto full(X const& x, V value) {
  return lift<detail::full_fn>(x, value);
}
template <handle X>
constexpr auto zeros(X const& x) {
  return full(x, 0);
}
template <typed_handle T, handle X>
constexpr T zeros(X const& x) {
  return {x.g, broadcast_to(constant(*x.g, T::info.type, 0), T::dims).id};
}
template <handle X>
constexpr auto ones(X const& x) {
  return full(x, 1);
}

}  // namespace tx
