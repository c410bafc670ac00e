// in_range(x, first, end): x, integers of which the caller promises first <= x < end; in_range(x, first, end, also): or x == also.
// Where x is an argument of the program, or shows elements of one (slices, other shapes and orders, conversions between
// integers, concat of such), the promise is checked before each run for all that x shows, read or not; value_error names
// the argument, the position and the element. What is computed in the program (where, arithmetic, take) is not checked.
//
// rising(x, rows, most): x tells where parts of `rows` rows begin, and the last one ends: from 0 to `rows`, or to as many as a run has where they
// are bounded; none is less than the one before it, or more than `most` above it. Checked as in_range is.
#pragma once

#include <tx/expr/var.hpp>

namespace tx {

namespace detail {
constexpr value_info in_range_infer(value_info const* in, int, attributes const&) {
  if (!is_integer(in[0].type)) throw invalid("in_range: ids and labels must be an integer tensor. FIX: tensor<tx::i32, ...>");
  return in[0];
}
constexpr bool in_range_restride(strided& s, shape const& from, shape const& to, attributes const& at) {
  (void)s, (void)from, (void)to, (void)at;
  return true;
}
}  // namespace detail

// A view that moves nothing; attributes 0 and 1 are the range, 2 an element that may lie beyond; 3, if not 0: elements rise along the last axis
// by at most so much; 4: the factors of the extent that the range ends behind, if it is bounded.
inline constexpr op_info in_range_info{.name = "in_range", .kind = op_kind::view, .arity = 1, .infer = detail::in_range_infer,
                                       .restride = detail::in_range_restride, .states_range = true, .differentiable = false};

constexpr var in_range(var x, std::int64_t first, std::int64_t end, std::int64_t also) {
  bool const within = also >= first && also < end;
  return emit(in_range_info, {x}, attributes{{first, end, within ? first : also}});
}
constexpr var in_range(var x, std::int64_t first, std::int64_t end) { return in_range(x, first, end, first); }
// rows: the leading extent of what has them.
constexpr var rising(var x, shape const& rows, int most) {
  return emit(in_range_info, {x}, attributes{{0, rows.dim[0] + 1, 0, most, rows.of(0).bits}});
}

}  // namespace tx
