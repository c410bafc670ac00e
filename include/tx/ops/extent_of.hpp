// How many elements a bounded axis has: a number that is known when the program runs.
#pragma once

#include <tx/ops/broadcast.hpp>
#include <tx/ops/constant.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>

namespace tx::detail {

// -> scalar of a type that counts so far; a constant where the axis is fixed.
constexpr var extent_of(var x, int axis, dtype type) {
  bounded const extent = x.dims().at(axis);
  if (!extent.of) return constant(*x.g, type, extent.max);
  return reshape(sum_fn<>{}(broadcast_to(constant(*x.g, type, 1.0), extents(extent))), shape{});
}

// How many elements of x each one of a reduction of it is made of, where those axes are bounded that the reduction has no more: -> scalar.
// With the fixed ones, as `each`, all of them.
struct reduced_count {
  double each = 1;
  var bounded_ones{};  // not valid() where there are none

  // `reduced` is a copy: the table of nodes, in which it may lie, grows.
  constexpr reduced_count(var x, shape const reduced) {
    if (x.dims().bounds == 0) {
      each = static_cast<double>(x.info().count()) / static_cast<double>(reduced.count());
      return;
    }
    bool const to_scalar = reduced.rank != x.dims().rank;
    for (int i = 0; i < x.dims().rank; ++i) {
      if (!to_scalar && x.dims().at(i) == reduced.at(i)) continue;
      if (!x.dims().is_bounded(i)) {
        each *= x.dims().dim[i];
        continue;
      }
      var const n = extent_of(x, i, x.type());
      bounded_ones = bounded_ones.valid() ? bounded_ones * n : n;
    }
  }
};

}  // namespace tx::detail
