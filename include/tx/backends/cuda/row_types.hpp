// What a fused group's types say, one fact at a time: device code cannot read the host's tables.
#pragma once

#include <tx/backends/cuda/registers.hpp>
#include <tx/plan/signature.hpp>

#include <tuple>

namespace tx::backends::cuda {

using exec::access;
using exec::form;

namespace detail {

template <class F>
struct row_types;
template <bool Exact, class... In, class... Let, class... Out>
struct row_types<exec::fused<Exact, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out...>>> {
  static constexpr int inputs = sizeof...(In);
  static constexpr int lets = sizeof...(Let);
  static constexpr int outputs = sizeof...(Out);
  static constexpr int values = inputs + lets;
  template <int V>
  using in = std::tuple_element_t<V, std::tuple<In...>>;
  template <int K>
  using let = std::tuple_element_t<K, std::tuple<Let...>>;
  template <int K>
  using out = std::tuple_element_t<K, std::tuple<Out...>>;
  static constexpr dtype types[values + 1] = {In::sig.type..., Let::type...};
  static constexpr bool reduces_rows = ((Let::shape == form::row_reduce) || ...);
  static constexpr bool has_product = ((In::sig.how == access::product) || ...);
  static constexpr int operands = inputs - has_product + outputs;

  template <class>
  struct pack;
  template <int... V>
  struct pack<std::integer_sequence<int, V...>> : slot<V, register_t<types[V]>>... {};
  using registers = pack<std::make_integer_sequence<int, values>>;
};

template <class F, int Sweep>
inline constexpr exec::sweep_demand demand_in = exec::demand_of(exec::signatures_of<F>{}, exec::row_schedule_of<F>, Sweep);

// Of value V, as exec::row_schedule has it.
template <class F, int V>
struct value_facts {
  static constexpr auto const& schedule = exec::row_schedule_of<F>;
  static constexpr bool by_column = schedule.by_column[V];
  static constexpr int sweep = schedule.sweep[V];
  static constexpr int stash = schedule.stash[V];
  static constexpr int sum = schedule.sum[V];
};

}  // namespace detail

}  // namespace tx::backends::cuda
