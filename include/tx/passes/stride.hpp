// Strides: how elements of a value follow each other. What passes ask of them.
#pragma once

#include <tx/core/shape.hpp>
#include <tx/graph/op_info.hpp>

namespace tx::passes {

// Row-major: the last axis fastest. An axis of extent 1 has stride 0.
constexpr strided dense(shape const& dims) {
  strided s{};
  std::int64_t stride = 1;
  factors of{};
  for (int i = dims.rank - 1; i >= 0; --i) {
    if (dims.dim[i] != 1) s.stride[i] = of.bits == 0 ? static_cast<quantity>(stride) : proportional(stride, of);
    stride *= dims.dim[i];
    if (dims.bounds != 0) of = of + dims.factors_at(i);
  }
  return s;
}

// Do the elements follow each other in the same way, wherever the first one is?
constexpr bool same_steps(strided const& a, strided const& b, shape const& dims) {
  for (int i = 0; i < dims.rank; ++i)
    if (dims.dim[i] != 1 && a.stride[i] != b.stride[i]) return false;
  return true;
}
constexpr bool same_strides(strided const& a, strided const& b, shape const& dims) {
  return a.offset == b.offset && same_steps(a, b, dims);
}

// The last axis that is not of extent 1: its elements are a row's. -1 where there is none, or only a leading bounded one, whose
// elements are rows.
constexpr int innermost_axis(shape const& s) {
  int i = s.rank - 1;
  while (i >= 0 && s.dim[i] == 1) --i;
  return i == 0 && s.is_bounded(0) ? -1 : i;
}
// Its extent, 1 where there is none.
constexpr bounded innermost(shape const& s) {
  int const axis = innermost_axis(s);
  return axis < 0 ? bounded(1) : s.at(axis);
}

}  // namespace tx::passes
