// How ops of several steps treat halves: computed in f32 and rounded once, as PyTorch does. Step by step, squares of
// f16 would overflow from 256 on, and an epsilon of 1e-12 would vanish.
#pragma once

#include <tx/ops/cast.hpp>
#include <tx/ops/constant.hpp>

namespace tx::detail {

// Numbers that a caller wrote keep their digits.
constexpr var widened(var x) {
  double number = 0;
  if (x.dims().rank == 0 && is_constant(*x.g, x.id, number)) return constant(*x.g, sum_type(x.type()), number);
  return cast(x, sum_type(x.type()));
}

// fn(x...) of halves of one type.
template <class Fn, class... V>
constexpr var in_f32(Fn const& fn, var x, V... others) {
  if (!((others.type() == x.type()) && ...))
    throw invalid("element types differ. FIX: convert one side with cast<T>(x)");
  return cast(fn(widened(x), widened(others)...), x.type());
}

}  // namespace tx::detail
