// rotary(x), rotary(x, places): queries or keys turned by their places (Su et al., RoFormer, arXiv 2104.09864), so that a score depends on how far
// two places are apart. x [..., places, head] -> the same; elements i and i + head / 2 of a head are turned together, as in Hugging Face's Llama,
// by the angle place / Base^(2 i / head). places: integers [places], 0, 1, 2, ... unless given. rotary<Base>(x): of another base than 10,000.
// Errors: fewer than two axes; an odd head; another number of places; a bounded number of them.
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/cos.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/sin.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/sub.hpp>

namespace tx::nn {

namespace detail {

template <int Base>
struct rotary_fn {
  static_assert(Base > 1, "tx::nn::rotary: a base is above 1. FIX: 10'000, say");

  constexpr var operator()(var x) const { return turned(x, cast(iota(*x.g, table(x), 0), sum_type(x.type()))); }
  constexpr var operator()(var x, var places) const {
    shape const angles = table(x);
    if (!is_integer(places.type()) || places.dims().rank != 1 || !(places.dims().at(0) == angles.at(0)))
      throw invalid("rotary: there is not one integer for each place. FIX: a tensor<tx::i32, places>");
    return turned(x, broadcast_to(reshape(cast(places, sum_type(x.type())), extents(angles.at(0), 1)), angles));
  }

 private:
  // [places, head / 2]
  static constexpr shape table(var x) {
    shape const s = x.dims();
    if (s.rank < 2 || s.last() % 2 != 0) throw invalid("rotary: it takes [..., places, head] with an even head. FIX: reshape it, or heads of another width");
    return extents(s.at(-2), s.last() / 2);
  }
  static constexpr var turned(var x, var places) {
    shape const angles = table(x);
    int const half_width = angles.dim[1];
    var const angle = places * exp(cast(iota(*x.g, angles, 1), places.type()) * (-math::log(static_cast<double>(Base)) / half_width));
    var const c = cast(cos(angle), x.type()), s = cast(sin(angle), x.type());
    var const first = slice(x, -1, 0, half_width, 1), second = slice(x, -1, half_width, half_width, 1);
    return concat({first * c - second * s, second * c + first * s}, -1);
  }
};

}  // namespace detail

template <int Base = 10'000, handle X>
constexpr auto rotary(X const& x) {
  return lift<detail::rotary_fn<Base>>(x);
}
template <int Base = 10'000, handle X, handle Places>
constexpr auto rotary(X const& x, Places const& places) {
  return lift<detail::rotary_fn<Base>>(x, places);
}

}  // namespace tx::nn
