// Rows whose number of columns a kernel's type says may be held: from memory they come to registers of their team once, all of them are asked for before any is
// waited for, and what several sweeps need stays there, as do sums over rows until the last row. Rows of any other number of columns are read by
// each sweep, and keep values and sums in shared memory.
//   768 columns of f32, a team of 32 threads: 6 steps of 4 columns each
#pragma once

#include <tx/backends/device/row_ahead.hpp>
#include <tx/backends/device/row_cut.hpp>

namespace tx::backends::device {

namespace detail {

// Words of 4 bytes that a thread holds at most, its steps, and values that it computes of them in a sweep: what follows from the first is how many threads a processor runs, from the others how long a compiler takes.
inline constexpr int most_words_held = 136, most_steps_held = 8, most_values_held = 1024;

template <class F>
inline constexpr held_rows held_of = [] {
  using types = row_types<F>;
  constexpr auto const& sweeping = exec::row_sweeps_of<F>;
  if constexpr (types::known_columns > exec::whole_columns) {
    constexpr int at_once = columns_at_once<F>;
    constexpr int step_words = words_fetched<F, any_sweep, at_once> + (sweeping.stashes + sweeping.column_sums) * at_once * sweeping.element / 4;
    int computed = 0;
    for (int sweep = 0; sweep < sweeping.sweeps; ++sweep)
      if (int const n = values_computed<F>(sweep); n > computed) computed = n;
    constexpr int lanes = types::known_columns / at_once;
    auto const fit = [&](int steps) { return steps <= most_steps_held && steps * step_words <= most_words_held && (steps == 1 || steps * computed * at_once <= most_values_held); };
    for (int team = 1; team <= most_threads; team *= 2) {
      int steps = (lanes + team - 1) / team;
      if (team < warp && team < lanes) continue;  // narrow rows share a warp
      if constexpr (!whole_rows<F>)
        while (team == warp && steps > 1 && !fit(steps)) steps = (steps + 1) / 2;  // any part of a row may be a team's
      int const pieces = (lanes + team * steps - 1) / (team * steps);
      if (fit(steps) && pieces <= most_pieces) return held_rows{team, steps, pieces};
    }
  }
  return held_rows{};
}();

// A place for each value that is kept from sweep to sweep, and for each sum over rows, of one step of N columns.
struct not_held {};
template <class F, int N, class>
struct kept_pack;
template <class F, int N, int... V>
struct kept_pack<F, N, std::integer_sequence<int, V...>>
    : slot<V, std::conditional_t<(value_facts<F, V>::stash >= 0), columns<register_t<row_types<F>::types[V]>, N>, not_held>>... {};
template <class F, int N>
using kept_values = kept_pack<F, N, std::make_integer_sequence<int, row_types<F>::values>>;

template <class F, int K>
inline constexpr bool sums_columns = row_types<F>::template let<K>::shape == form::col_reduce && value_facts<F, row_types<F>::template let<K>::operand[0]>::by_column;
template <class F, int N, class>
struct sum_pack;
template <class F, int N, int... K>
struct sum_pack<F, N, std::integer_sequence<int, K...>>
    : slot<K, std::conditional_t<sums_columns<F, K>, columns<register_t<row_types<F>::types[row_types<F>::inputs + K]>, N>, not_held>>... {};
template <class F, int N>
using column_sums_held = sum_pack<F, N, std::make_integer_sequence<int, row_types<F>::lets>>;

}  // namespace detail

}  // namespace tx::backends::device
