// swap_ranks(x, step, which): what the rank `step` further on has as x, which gets this rank's. Both have to ask for it, one with step, the other with -step; others
// do not take part. For passes that divide a program among ranks (dist/pipeline.hpp): where only some ranks come to it, it stands in a loop that takes turns.
//
//   rank 1: swap_ranks(x, 1)     rank 2: swap_ranks(x, -1)     each has the other's x, [...] -> the same
//
// Errors: a rank without such a neighbour, or ranks that bring different shapes, get a rank_error.
#pragma once

#include <tx/dist/across.hpp>
#include <tx/ops/partitioned.hpp>
#include <tx/plan/signature.hpp>

#include <span>

namespace tx {

namespace detail {
constexpr value_info swap_ranks_infer(value_info const* in, int, attributes const&) { return in[0]; }
constexpr int step_of_swap(attributes const& at) { return static_cast<int>(at.v[0]); }
}  // namespace detail

inline constexpr op_info swap_ranks_info{.name = "swap_ranks", .kind = op_kind::collective, .arity = 1, .infer = detail::swap_ranks_infer, .each_element = true};

namespace rules {
struct swap_ranks {
  template <class Communicator, class T>
  static void run(Communicator& ranks, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    auto const count = static_cast<std::size_t>(out.dims.count());
    ranks.swap_with(std::span<T const>(in.data, count), std::span<T>(out.data, count), ranks.rank() + detail::step_of_swap(at));
  }
};
}  // namespace rules
template <>
struct exec::collective_rule<&swap_ranks_info> {
  using type = rules::swap_ranks;
};

constexpr var swap_ranks(var x, int step, across which) { return emit(swap_ranks_info, {x}, detail::with_across({{step}}, which)); }

}  // namespace tx
