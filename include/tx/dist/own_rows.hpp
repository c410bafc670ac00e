// own_rows<Axis, Ranks>(x): of x, which all ranks have, this rank's portion of the rows along an axis. n of them, the extent over the number of ranks, rounded up: rank r
// has rows r n to r n + n - 1. Where the extent does not divide, the last ranks have fewer, or none, and zeros behind them. Nothing travels.
//
//   own_rows<0, 4>(x)   x [10, 16] -> [3, 16]   of rank 1 rows 3, 4, 5
//
// Its gradient, where all ranks have one loss, is what all of them have of it: all_gather. Errors: an axis there is not; a bounded extent; a communicator of another number of ranks gives a rank_error.
#pragma once

#include <tx/core/portion.hpp>
#include <tx/dist/across.hpp>
#include <tx/dist/communicator.hpp>
#include <tx/ops/lines.hpp>
#include <tx/ops/partitioned.hpp>
#include <tx/plan/signature.hpp>

#include <span>
#include <string>

namespace tx {

namespace detail {

// The axis along which ranks have portions, as it stands in the attributes of an op; extent: of all portions together, where the op makes that.
struct divided_axis {
  int axis = 0;
  dividing_ranks ranks = 1;
  int extent = 0;
  bool zeros_behind = false;  // of own_rows: its gradient has zeros too where the portion does, which need not be cleared; of all_gather: so has what is gathered

  constexpr attributes coded() const { return with_across({{axis, ranks.count, extent, zeros_behind}}, ranks.which); }
  static constexpr divided_axis of(attributes const& at) { return {static_cast<int>(at.v[0]), {static_cast<int>(at.v[1]), across_of(at)}, static_cast<int>(at.v[2]), at.v[3] != 0}; }
  static constexpr divided_axis checked(shape const& dims, int axis, dividing_ranks ranks, int extent = 0) {
    return {named_axis(dims, axis, "own_rows, reduce_scatter, all_gather: the tensor has no such axis. FIX: name one of 0 .. rank-1, or -rank .. -1"), ranks, extent};
  }
};

constexpr void check_divided(shape const& dims, divided_axis const& d) {
  if (d.ranks.count < 1) throw invalid("own_rows, reduce_scatter, all_gather: at least one rank. FIX: the number of ranks, Ranks of data_parallel<Ranks>");
  if (dims.is_bounded(d.axis)) throw invalid("own_rows, reduce_scatter, all_gather: a bounded extent is not divided among ranks. FIX: an axis of a fixed extent");
}

constexpr value_info own_rows_infer(value_info const* in, int, attributes const& at) {
  value_info info = in[0];
  divided_axis const d = divided_axis::of(at);
  check_divided(info.dims, d);
  info.dims.set(d.axis, static_cast<int>(rows_of_rank(info.dims.dim[d.axis], d.ranks.count)));
  return info;
}

// use(all rows, the rank's rows) of each block [axis ...] of two operands, which have as many of them.
template <class Communicator, class W, class O, class Use>
void for_each_block(Communicator& ranks, divided_axis const& d, whole_operand<W> whole, whole_operand<O> own, Use const& use) {
  if (ranks.size() != d.ranks.count)
    throw dist::rank_error("portions are for " + std::to_string(d.ranks.count) + " ranks; there are " + std::to_string(ranks.size()) + ". FIX: start so many, or compile the step for as many");
  std::int64_t blocks = 1;
  for (int a = 0; a < d.axis; ++a) blocks *= whole.dims.dim[a];
  if (blocks == 0) return;
  std::int64_t const each = whole.dims.count() / blocks, kept = own.dims.count() / blocks;
  for (std::int64_t b = 0; b < blocks; ++b)
    use(std::span<W>(whole.data + b * each, static_cast<std::size_t>(each)), std::span<O>(own.data + b * kept, static_cast<std::size_t>(kept)));
}

}  // namespace detail

namespace detail {
constexpr void own_rows_vjp(vjp_context& c);
constexpr int own_rows_simplify(simplify_context& c);
}
inline constexpr op_info own_rows_info{
    .name = "own_rows", .kind = op_kind::collective, .arity = 1, .infer = detail::own_rows_infer, .vjp = detail::own_rows_vjp, .simplify = detail::own_rows_simplify, .along_axis = true, .computed_again = true};

namespace rules {
struct own_rows {
  template <class Communicator, class T>
  static void run(Communicator& ranks, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    detail::for_each_block(ranks, detail::divided_axis::of(at), in, out, [&](std::span<T const> whole, std::span<T> own) {
      portion const mine = portion_of(static_cast<std::int64_t>(whole.size()), static_cast<std::int64_t>(own.size()), ranks.rank());
      auto const count = static_cast<std::size_t>(mine.count);
      dist::copy_elements(ranks, whole.subspan(static_cast<std::size_t>(mine.first), count), own.first(count));
      dist::clear_elements(ranks, own.subspan(count));
    });
  }
};
}  // namespace rules
template <>
struct exec::collective_rule<&own_rows_info> {
  using type = rules::own_rows;
};

constexpr var own_rows(var x, int axis, dividing_ranks ranks) { return emit(own_rows_info, {x}, detail::divided_axis::checked(x.dims(), axis, ranks).coded()); }

namespace detail {
template <int Axis, int Ranks>
struct own_rows_fn {
  constexpr var operator()(var x) const { return own_rows(x, Axis, Ranks); }
};
}  // namespace detail

template <int Axis, int Ranks, handle X>
constexpr auto own_rows(X const& x) {
  return lift<detail::own_rows_fn<Axis, Ranks>>(x);
}

}  // namespace tx

#include <tx/dist/reduce_scatter.hpp>  // which has the gradient
