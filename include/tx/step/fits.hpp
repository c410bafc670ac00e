// fits<Step, MiB(2)>: does the step need at most so many bytes, all together? Where it needs more, the compile error has both numbers:
//
//   static_assert(tx::fits<step, tx::MiB(256)>);
#pragma once

#include <tx/backends/cpu/target.hpp>

#include <cstdint>

namespace tx {

namespace detail {
template <std::int64_t Needed, std::int64_t Allowed>
struct bytes_needed_and_allowed {
  static_assert(Needed <= Allowed, "tx::fits: the program's peak, the first number, is above what is allowed, the second. FIX: a smaller batch, of a train_step tx::accumulate<parts> or tx::recompute<bytes>, or a larger limit");
  static constexpr bool value = true;
};
}  // namespace detail

// Step: a train_step, function or value_and_grad; memory_on<To>.peak is what it needs on a target, parameters and states with it.
template <class Step, std::int64_t Bytes, target const& To = cpu_target>
inline constexpr bool fits = detail::bytes_needed_and_allowed<Step::template memory_on<To>.peak, Bytes>::value;

}  // namespace tx
