// in_range(x, first, end): x, integers of which the caller promises first <= x < end; in_range(x, first, end, also): or x == also. [...] -> the same.
// Where x is an argument of the program, or shows elements of one (slices, other shapes and orders, conversions between
// integers, concat of such), the promise is checked before each run for all that x shows, read or not; value_error names
// the argument, the position and the element. What is computed in the program (where, arithmetic, take) is not checked.
//
// rising(x, rows, most): x tells where parts of `rows` rows begin, and the last one ends: from 0 to `rows`, or to as many as a run has where they
// are bounded; none is less than the one before it, or more than `most` above it. start_in(x, places): x is where a slice begins, 0 <= x < places. Both are
// checked as in_range is.
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

// What is promised of elements.
struct range_promise {
  std::int64_t first = 0, end = 0;
  std::int64_t also = 0;       // an element that may lie beyond
  std::int64_t most_rise = 0;  // above 0: they rise along the last axis, by at most so much; `start`: it is one, where a slice begins
  factors of_end{};            // if any, `end` less `beyond` is a bounded extent, of which these are the factors
  std::int64_t beyond = 0;
  static constexpr std::int64_t start = -1;
};
constexpr attributes attributes_of(range_promise const& p) { return {{p.first, p.end, p.also, p.most_rise, p.of_end.bits, p.beyond}}; }
constexpr range_promise range_promise_of(attributes const& at) {
  return {at.v[0], at.v[1], at.v[2], at.v[3], factors{static_cast<std::uint32_t>(at.v[4])}, at.v[5]};
}

// A view that moves nothing.
inline constexpr op_info in_range_info{.name = "in_range", .kind = op_kind::view, .arity = 1, .infer = detail::in_range_infer,
                                       .restride = detail::in_range_restride, .states_range = true, .differentiable = false};

constexpr var in_range(var x, std::int64_t first, std::int64_t end, std::int64_t also) {
  bool const within = also >= first && also < end;
  return emit(in_range_info, {x}, attributes_of(range_promise{first, end, within ? first : also}));
}
constexpr var in_range(var x, std::int64_t first, std::int64_t end) { return in_range(x, first, end, first); }
// The range ends with an extent that may be bounded.
constexpr var in_range(var x, std::int64_t first, bounded end) {
  return emit(in_range_info, {x}, attributes_of(range_promise{first, end.max, first, 0, end.of}));
}
// Where a slice or what is written into an axis begins; there are so many places for it.
constexpr var start_in(var x, std::int64_t places) { return emit(in_range_info, {x}, attributes_of(range_promise{0, places, 0, range_promise::start})); }
// rows: the leading extent of what has them.
constexpr var rising(var x, shape const& rows, int most) {
  return emit(in_range_info, {x}, attributes_of(range_promise{0, rows.dim[0] + 1, 0, most, rows.factors_at(0), 1}));
}

}  // namespace tx
