// Where a run's arguments and scalars lie in a memory of the backend's own: one argument behind the other, then scalars, the step and the counters.
#pragma once

#include <tx/core/alignment.hpp>
#include <tx/core/fixed.hpp>
#include <tx/plan/target.hpp>
#include <tx/run/frame.hpp>

#include <tuple>
#include <utility>

namespace tx::exec {

inline constexpr int most_under_way = 2;  // runs that were started and whose results nobody has taken

template <class Arguments>
struct staged;
template <class... A>
struct staged<std::tuple<A...>> {
  static constexpr int count = static_cast<int>(sizeof...(A));
  static constexpr auto offsets = [] {
    fixed<std::int64_t, count + 1> at{};
    [[maybe_unused]] int k = 0;
    ((at[k + 1] = at[k] + aligned(A::info.bytes()), ++k), ...);
    return at;
  }();
  static constexpr std::int64_t scalars = offsets[count];
  // Of one run; as many may be under way as most_under_way.
  static constexpr std::int64_t bytes_on(target const& to) { return scalars + scalars_and_step + to.counter_bytes(); }
};

}  // namespace tx::exec
