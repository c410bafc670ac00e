// What a fused group's types say, one fact at a time: device code cannot read the host's tables.
#pragma once

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
template <bool Exact, class... In, class... Let, class... Out>
struct row_types<exec::fused<Exact, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out...>>> {
  static constexpr bool exact = Exact;
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
template <bool Exact, class... In, class... Let, class... Out>
inline constexpr dtype type_of_product<exec::fused<Exact, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out...>>> = [] {
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

// Where all that is made of a product is its sum with another operand of its type: that operand's number among the inputs; else -1.
template <class F>
inline constexpr int added_to_product = -1;
template <bool Exact, class... In, dtype D, int A, int B, bool Costly, int Value>
inline constexpr int added_to_product<exec::fused<Exact, exec::ins<In...>, exec::lets<exec::let<rules::add, D, exec::form::map, Costly, A, B>>, exec::outs<exec::out<Value, D, exec::form::map, false>>>> = [] {
  constexpr exec::in_sig inputs[] = {In::sig...};
  if (Value != static_cast<int>(sizeof...(In)) || A >= Value || B >= Value || (A == 0) == (B == 0)) return -1;
  return inputs[A + B].how == access::contiguous && inputs[A + B].type == D && inputs[0].type == D ? A + B : -1;
}();
// The sum may be stored where a carry is, which says so by a copy.
template <bool Exact, class In, class Add, dtype D, bool Costly, int Sum, int Value>
inline constexpr int added_to_product<exec::fused<Exact, In, exec::lets<Add, exec::let<rules::copy, D, exec::form::map, Costly, Sum>>, exec::outs<exec::out<Value, D, exec::form::map, false>>>> =
    Sum == In::count && Value == Sum + 1 ? added_to_product<exec::fused<Exact, In, exec::lets<Add>, exec::outs<exec::out<Sum, D, exec::form::map, false>>>> : -1;

// Where all that is made of a product is its sum with a row of halves, widened, and that sum's rounding: the row's number among the inputs; else -1.
template <class F>
inline constexpr int row_added_to_product = -1;
template <bool Exact, class... In, dtype D, int Row, dtype Half, int A, int B, bool C0, bool C1, bool C2, int Sum, int Value>
inline constexpr int row_added_to_product<exec::fused<Exact, exec::ins<In...>, exec::lets<exec::let<rules::cast, D, exec::form::map, C0, Row>, exec::let<rules::add, D, exec::form::map, C1, A, B>, exec::let<rules::cast, Half, exec::form::map, C2, Sum>>, exec::outs<exec::out<Value, Half, exec::form::map, false>>>> = [] {
  constexpr exec::in_sig inputs[] = {In::sig...};
  constexpr int widened = sizeof...(In);  // values are numbered on from the inputs
  bool const sums = (A == 0 && B == widened) || (A == widened && B == 0);
  bool const stored = Sum == widened + 1 && Value == widened + 2 && is_half(Half);
  return sums && stored && Row > 0 && Row < widened && inputs[0].how == access::product && inputs[0].type == D && inputs[Row].type == Half ? Row : -1;
}();

// What a library can do with the sums of a product of E4M3 as it stores them: they are multiplied by a number of each row, then by a row of numbers; behind that they may be rounded, or
// have a row of halves added and be rounded. Numbers among the inputs; row: 0 where there is none.
struct scaled_product {
  bool known = false;
  int row_scales = 0, column_scales = 0, row = 0;
  dtype to = dtype::f32;
};
template <class F>
inline constexpr scaled_product scaled_product_of{};
template <bool Exact, class... In, class... Let, class Out>
inline constexpr scaled_product scaled_product_of<exec::fused<Exact, exec::ins<In...>, exec::lets<Let...>, exec::outs<Out>>> = [] {
  constexpr int inputs = sizeof...(In), lets = sizeof...(Let);
  constexpr exec::in_sig in[] = {In::sig..., exec::in_sig{}};
  if constexpr (lets == 2 || lets == 3 || lets == 5) {
    constexpr bool muls[] = {std::is_same_v<typename Let::rule, rules::mul>...}, adds[] = {std::is_same_v<typename Let::rule, rules::add>...}, casts[] = {std::is_same_v<typename Let::rule, rules::cast>...};
    constexpr dtype types[] = {Let::type...};
    constexpr int first[] = {Let::operand[0]...}, second[] = {Let::operand[1]...};
    // What let k reads beside `value`, if it reads that once; -1: it does not.
    auto const other = [&](int k, int value) { return (first[k] == value) == (second[k] == value) ? -1 : first[k] == value ? second[k] : first[k]; };
    auto const is_input = [&](int v, access how, bool half) { return v > 0 && v < inputs && in[v].how == how && (half ? in[v].type == dtype::bf16 : in[v].type == dtype::f32); };
    scaled_product s{};
    bool const whole = in[0].how == access::product && in[0].type == dtype::f32 && ((Let::shape == exec::form::map) && ...) && Out::sig.shape == exec::form::map && !Out::sig.per_row && Out::sig.value == inputs + lets - 1;
    s.row_scales = other(0, 0);
    s.column_scales = other(1, inputs);
    s.to = types[lets - 1];
    bool const scales = muls[0] && muls[1] && types[0] == dtype::f32 && types[1] == dtype::f32 && is_input(s.row_scales, access::row, false) && is_input(s.column_scales, access::contiguous, false);
    bool ends = s.to == dtype::f32;
    if (lets > 2) ends = casts[lets - 1] && first[lets - 1] == inputs + lets - 2 && s.to == dtype::bf16;
    if constexpr (lets == 5) {
      s.row = first[2];
      ends = ends && casts[2] && types[2] == dtype::f32 && is_input(s.row, access::contiguous, true) && adds[3] && types[3] == dtype::f32 && other(3, inputs + 1) == inputs + 2;
    }
    s.known = whole && scales && ends && Out::sig.type == s.to;
    return s;
  } else {
    return scaled_product{};
  }
}();

// As kept_row of target.hpp, for device code.
template <class F>
TX_DEVICE std::int64_t kept_row_of(std::int64_t cols) {
  return (cols + 31) / 32 * 32 * exec::row_sweeps_of<F>.element;
}

// Neighbouring columns that a thread computes at once: 16 bytes of them where all are f32, or all are halves.
template <class F>
inline constexpr int columns_at_once = !row_types<F>::exact                       ? 1
                                       : exec::row_sweeps_of<F>.element == 8 ? 2
                                       : row_types<F>::halves_alone            ? 8
                                                                               : 4;

}  // namespace detail

}  // namespace tx::backends::device
