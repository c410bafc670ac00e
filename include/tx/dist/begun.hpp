// begun(x), awaited(y, x): a collective in two halves, between which ranks compute something else. What is begun has its result once it is awaited, and x stays as it is until
// then. For the pass that overlaps collectives (overlap.hpp); what a communicator makes of them: communicator.hpp.
//
//   y = all_reduce(x)     b = begun_all_reduce(x), ..., y = awaited(b, x)     [...] -> the same
//
// all_gather_of_next(p): p, the slice of a leaf that an iteration sees, stands for that of the next one, which is gathered; the last iteration gathers its own. For the pass that
// fetches parameters ahead (fetched_ahead.hpp).
//
// A communicator that has no way to go on meanwhile does all of it where it is begun.
#pragma once

#include <tx/dist/all_reduce.hpp>
#include <tx/dist/reduce_scatter.hpp>

namespace tx {

namespace detail {
// Each pair has a number of its own, by which a communicator knows it, and equal ones are not merged.
constexpr attributes with_pair(attributes at, int number) {
  at.v[max_rank - 2] = number;
  return at;
}
constexpr int pair_of(attributes const& at) { return static_cast<int>(at.v[max_rank - 2]); }

constexpr op_info begun(op_info of, char const* name) {
  return {.name = name, .kind = op_kind::collective, .arity = 1, .infer = of.infer, .over_first = of.over_first, .each_element = of.each_element, .begins = true};
}
constexpr value_info awaited_infer(value_info const* in, int, attributes const&) { return in[0]; }
}  // namespace detail

inline constexpr op_info begun_all_reduce_info = detail::begun(all_reduce_info, "begun_all_reduce");
inline constexpr op_info begun_reduce_scatter_info = detail::begun(reduce_scatter_info, "begun_reduce_scatter");
inline constexpr op_info begun_all_gather_info = detail::begun(all_gather_info, "begun_all_gather");
inline constexpr op_info all_gather_of_next_info{.name = "all_gather_of_next", .kind = op_kind::collective, .arity = 1, .infer = all_gather_info.infer, .fetches_next = true};
inline constexpr op_info begun_all_gather_of_next_info{
    .name = "begun_all_gather_of_next", .kind = op_kind::collective, .arity = 1, .infer = all_gather_info.infer, .begins = true, .fetches_next = true};
inline constexpr op_info awaited_info{.name = "awaited", .kind = op_kind::collective, .arity = 2, .infer = detail::awaited_infer, .over_first = true, .awaits = true};

namespace rules {
template <class Rule>
struct begun {
  template <class Communicator, class T>
  static void run(Communicator& ranks, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    auto const all = [at, out, in](auto& those) { Rule::run(those, at, out, in); };
    if constexpr (requires { ranks.begin(0, all); }) ranks.begin(detail::pair_of(at), all);
    else all(ranks);
  }
};
struct awaited {
  template <class Communicator, class T>
  static void run(Communicator& ranks, attributes const& at, whole_operand<T> out, whole_operand<T const> begun, whole_operand<T const>) {
    if constexpr (requires { ranks.finish(0); }) ranks.finish(detail::pair_of(at));
    auto const count = static_cast<std::size_t>(out.dims.count());
    dist::copy_elements(ranks, std::span<T const>(begun.data, count), std::span<T>(out.data, count));
  }
};
}  // namespace rules
template <>
struct exec::collective_rule<&begun_all_reduce_info> {
  using type = rules::begun<rules::all_reduce>;
};
template <>
struct exec::collective_rule<&begun_reduce_scatter_info> {
  using type = rules::begun<rules::reduce_scatter>;
};
template <>
struct exec::collective_rule<&begun_all_gather_info> {
  using type = rules::begun<rules::all_gather>;
};
template <>
struct exec::collective_rule<&begun_all_gather_of_next_info> {
  using type = rules::begun<rules::all_gather>;
};
template <>
struct exec::collective_rule<&awaited_info> {
  using type = rules::awaited;
};

}  // namespace tx
