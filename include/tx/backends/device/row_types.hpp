// What a fused group's types say, one fact at a time: device code cannot read the host's tables.
#pragma once

#include <tx/backends/device/product_end.hpp>
#include <tx/backends/device/registers.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/copy.hpp>
#include <tx/ops/mul.hpp>
#include <tx/plan/signature.hpp>

#include <tuple>

namespace tx::backends::device {

using exec::access;
using exec::form;

namespace detail {

template <class F>
struct row_types;
template <int Columns, class... In, class... Let, class... Out>
struct row_types<exec::fused<Columns, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out...>>> {
  static constexpr int known_columns = Columns;  // as the signature has it
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
  static constexpr bool draws = ((In::sig.how == access::random) || ...);
  static constexpr int operands = inputs - has_product + outputs;

  template <class>
  struct pack;
  template <int... V>
  struct pack<std::integer_sequence<int, V...>> : slot<V, register_t<types[V]>>... {};
  using registers = pack<std::make_integer_sequence<int, values>>;  // numbers of the row
  template <int N, class>
  struct column_pack;
  template <int N, int... V>
  struct column_pack<N, std::integer_sequence<int, V...>> : slot<V, columns<register_t<types[V]>, N>>... {};
  template <int N>
  using column_registers = column_pack<N, std::make_integer_sequence<int, values>>;

  static constexpr bool along_columns(access a) { return a == access::contiguous || a == access::product; }
  static constexpr bool halves_alone = ((!along_columns(In::sig.how) || size_of(In::sig.type) <= 2) && ...) &&
                                       ((Out::sig.shape != form::map || Out::sig.per_row || size_of(Out::sig.type) <= 2) && ...);
  static constexpr bool has_numbers = ((Out::sig.per_row) || ...);  // results of one element a row
};

template <class F, int Sweep>
inline constexpr exec::sweep_demand demand_in = exec::demand_of(exec::signatures_of<F>{}, exec::row_sweeps_of<F>, Sweep);

// Of value V, as exec::row_sweeps has it.
template <class F, int V>
struct value_facts {
  static constexpr auto const& sweeping = exec::row_sweeps_of<F>;
  static constexpr bool by_column = sweeping.by_column[V];
  static constexpr int sweep = sweeping.sweep[V];
  static constexpr int stash = sweeping.stash[V];
  static constexpr int sum = sweeping.sum[V];
};

// In what type a product may be handed to the group: of halves, where all that is made of it is made of what it is as those; else that of its sums.
template <class F>
inline constexpr dtype type_of_product = dtype::f32;
template <int Columns, class... In, class... Let, class... Out>
inline constexpr dtype type_of_product<exec::fused<Columns, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out...>>> = [] {
  constexpr exec::in_sig inputs[] = {In::sig..., exec::in_sig{}};
  int product = 0;
  while (product < static_cast<int>(sizeof...(In)) && inputs[product].how != access::product) ++product;
  dtype type = inputs[product].type;
  bool alone = product < static_cast<int>(sizeof...(In)) && ((Out::sig.value != product) && ...);
  dtype rounded = type;
  [[maybe_unused]] auto const look = [&](int const (&operand)[3], int count, bool is_cast, dtype to) {
    for (int k = 0; k < count; ++k) {
      if (operand[k] != product) continue;
      alone = alone && is_cast && is_half(to) && (rounded == type || rounded == to);
      rounded = to;
    }
  };
  (look(Let::operand, Let::count, std::is_same_v<typename Let::rule, rules::cast>, Let::type), ...);
  return alone ? rounded : type;
}();

// What a library does behind a product of such sides, where it does all of it.
template <class Rule>
inline constexpr end_op end_op_of = std::is_same_v<Rule, rules::add>    ? end_op::add
                                    : std::is_same_v<Rule, rules::mul>  ? end_op::mul
                                    : std::is_same_v<Rule, rules::cast> ? end_op::cast
                                    : std::is_same_v<Rule, rules::copy> ? end_op::copy
                                                                        : end_op::other;
template <class F, dtype Sides>
inline constexpr product_end end_of_product{};
template <int Columns, class... In, class... Let, class... Out, dtype Sides>
inline constexpr product_end end_of_product<exec::fused<Columns, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out...>>, Sides> = [] {
  constexpr exec::in_sig in[] = {In::sig..., exec::in_sig{}};
  constexpr end_let lets[] = {end_let{end_op_of<typename Let::rule>, Let::type, Let::shape, {Let::operand[0], Let::operand[1]}}..., end_let{}};
  constexpr exec::out_sig outs[] = {Out::sig..., exec::out_sig{}};
  return product_end::of(Sides, std::span(in, sizeof...(In)), std::span(lets, sizeof...(Let)), std::span(outs, sizeof...(Out)));
}();

// As kept_row of target.hpp, for device code.
template <class F>
TX_DEVICE std::int64_t kept_row_of(std::int64_t cols) {
  return (cols + 31) / 32 * 32 * exec::row_sweeps_of<F>.element;
}

// Is a number made of a row, so that one team computes all of it?
template <class F>
inline constexpr bool whole_rows = row_types<F>::reduces_rows || row_types<F>::has_numbers || exec::row_sweeps_of<F>.row_sums > 0;

// Neighbouring columns that a thread computes at once: 16 bytes of them where all are f32, or all are halves.
template <class F>
inline constexpr int columns_at_once = row_types<F>::known_columns == exec::any_columns ? 1
                                       : exec::row_sweeps_of<F>.element == 8 ? 2
                                       : row_types<F>::halves_alone            ? 8
                                                                               : 4;

}  // namespace detail

}  // namespace tx::backends::device
