// What a thread asks memory for before it computes with any of it. A device answers hundreds of cycles later, so a row kernel is as fast as what is
// on its way at a time: a thread fetches several steps of its row, in the registers that there are for that, and then computes them one by one.
#pragma once

#include <tx/backends/device/row_types.hpp>

namespace tx::backends::device {

namespace detail {

// Words of 4 bytes that a thread fetches at once, steps that it does so for, and values that it computes then: more would take registers from other threads of a processor, and time of a compiler.
inline constexpr int most_words_ahead = 32, most_steps_ahead = 4, most_values_ahead = 256;

// Does a sweep read input V from memory, column by column? Or any of them does.
inline constexpr int any_sweep = -1;
template <class F, int Sweep, int V>
inline constexpr bool fetches = [] {
  using types = row_types<F>;
  if constexpr (V >= types::inputs) {
    return false;
  } else if constexpr (Sweep == any_sweep) {
    return []<int... S>(std::integer_sequence<int, S...>) { return (fetches<F, S, V> || ...); }(std::make_integer_sequence<int, exec::row_sweeps_of<F>.sweeps>{});
  } else {
    return demand_in<F, Sweep>.value[V] && (types::along_columns(types::template in<V>::sig.how) || types::template in<V>::sig.how == access::strided);
  }
}();

struct not_fetched {};
template <dtype D, int N>
struct fetched_values {
  fetched_columns<D, N> as_stored;
};
// A product may have been rounded (type_of_product) or not. What is read of each has a place of its own: one for both would be waited for between the two.
template <dtype Sums, dtype Rounded, int N>
struct fetched_product {
  fetched_columns<Sums, N> as_stored;
  fetched_columns<Rounded, N> as_rounded;
};

template <class F, int V>
inline constexpr bool may_be_rounded = row_types<F>::template in<V>::sig.how == access::product && type_of_product<F> != row_types<F>::template in<V>::sig.type;

template <class F, int Sweep, int V, int N>
constexpr auto fetched_type() {
  constexpr exec::in_sig sig = row_types<F>::template in<V>::sig;
  if constexpr (!fetches<F, Sweep, V>) return not_fetched{};
  else if constexpr (may_be_rounded<F, V>) return fetched_product<sig.type, type_of_product<F>, N>{};
  else return fetched_values<sig.type, N>{};
}
template <class F, int Sweep, int N, class>
struct fetched_pack;
template <class F, int Sweep, int N, int... V>
struct fetched_pack<F, Sweep, N, std::integer_sequence<int, V...>> : slot<V, decltype(fetched_type<F, Sweep, V, N>())>... {};
// Of one step of N columns.
template <class F, int Sweep, int N>
using fetched_inputs = fetched_pack<F, Sweep, N, std::make_integer_sequence<int, row_types<F>::inputs>>;

constexpr int words_of(dtype d, int columns) { return (columns * static_cast<int>(size_of(d)) + 3) / 4; }
// Words of one step.
template <class F, int Sweep, int N>
inline constexpr int words_fetched = []<int... V>(std::integer_sequence<int, V...>) {
  return ((fetches<F, Sweep, V> ? words_of(row_types<F>::template in<V>::sig.type, N) + (may_be_rounded<F, V> ? words_of(type_of_product<F>, N) : 0) : 0) + ... + 0);
}(std::make_integer_sequence<int, row_types<F>::inputs>{});
// Values that vary by column and are computed in a sweep.
template <class F>
constexpr int values_computed(int sweep) {
  exec::sweep_demand const d = exec::demand_of(exec::signatures_of<F>{}, exec::row_sweeps_of<F>, sweep);
  int n = 0;
  for (int v = 0; v < row_types<F>::values; ++v) n += d.value[v];
  return n;
}

// How many steps are fetched together.
template <class F, int Sweep, int N>
inline constexpr int steps_ahead = [] {
  constexpr int step_words = words_fetched<F, Sweep, N>, computed = values_computed<F>(Sweep);
  if (step_words == 0) return 1;
  int steps = 1;
  while (steps < most_steps_ahead && 2 * steps * step_words <= most_words_ahead && 2 * steps * computed * N <= most_values_ahead) steps *= 2;
  return steps;
}();

}  // namespace detail

}  // namespace tx::backends::device
