// What a run is given, and what must hold of it. Views become ranges: where they lie if they are dense, else copies.
#pragma once

#include <tx/graph/print.hpp>
#include <tx/run/told_extents.hpp>
#include <tx/run/view.hpp>

#include <array>
#include <tuple>
#include <vector>

namespace tx::exec {

// Both numbers stand in the name of what does not compile.
template <std::size_t Ranges, std::size_t Arguments>
struct as_many_ranges {
  static_assert(Ranges == Arguments, "tx::executor: a call has another number of ranges (the first number) than the step has arguments (the "
                                     "second). FIX: a range for each tensor that its loss or function takes, in order");
  static constexpr bool value = true;
};

// What a step can be given as an argument: elements that lie one after the other, or a view of the caller's memory.
template <class A>
concept range_or_view = strided_view<A> || requires(A const& a) { std::span(a); };

// Arguments whose bounded extents have one tag have one bound, each as an axis of its own.
template <class Arguments>
inline constexpr bool one_bound_each = true;
template <class... T>
inline constexpr bool one_bound_each<std::tuple<T...>> = [] {
  bound_table most{};
  (most.note(T::dims), ...);
  bool one = true;
  [[maybe_unused]] auto look = [&](shape const& s) {
    for (int a = 0; a < s.rank; ++a)
      for (int t = 1; t <= max_tags; ++t)
        if (s.factors_at(a).count(t) != 0) one = one && s.factors_at(a) == factors::once(t) && s.dim[a] == most.most[t];
  };
  (look(T::dims), ...);
  return one;
}();

// Each bounded extent of a program is that of an argument, which tells how many there are.
template <class Program>
inline constexpr bool bounds_are_told = [] {
  bool told = true;
  auto const look = [&](factors f) {
    for (int t = 1; t <= max_tags; ++t) told = told && (f.count(t) == 0 || Program::bound_of.most[t] != 0);
  };
  for (call const& c : Program::calls)
    for (factors f : {c.of_rows, c.of_cols, c.of_depth, c.of_batch}) look(f);
  for (varying_number const& v : Program::varying) look(factors_of(v.value));
  for (result_ref const& r : Program::results) look(r.info.dims.count_factors());
  return told;
}();

// The extents of argument K, of type Wanted. Throws shape_error for others than it may have.
template <int K, class Wanted, strided_view V>
view_extents extents_as(V const& v) {
  return tx::detail::extents_of(v, tx::detail::extents_of(Wanted::dims), {"executor: argument", K}, Wanted::dims);
}

// Both types stand in the name of what does not compile.
template <class Given, class Wanted>
struct element_given_and_wanted {
  static_assert(std::is_same_v<Given, Wanted>, "tx::executor: a range or view has another element type, the first, than the step's argument, the second. FIX: pass one of that type");
  static constexpr bool value = true;
};

// Copies of arguments that are views of other strides than row-major: memory that is taken when the first one comes,
// and kept.
template <int Arguments>
class view_copies {
 public:
  // Argument K of type Wanted as a range. Throws shape_error for other extents.
  template <int K, class Wanted, strided_view V>
  std::span<std::remove_const_t<view_element<V>> const> range(V const& v) {
    using T = std::remove_const_t<view_element<V>>;
    static_assert(element_given_and_wanted<T, typename Wanted::element_type>::value);
    view_extents const extents = extents_as<K, Wanted>(v);
    auto const count = static_cast<std::size_t>(extents.count());
    if (extents.dense()) return {v.data_handle(), count};
    auto& copy = copies_[K];
    copy.resize(static_cast<std::size_t>(Wanted::info.bytes()));
    view_extents packed = extents;
    packed.pack();
    auto* const to = reinterpret_cast<T*>(copy.data());
    tx::detail::copy_axes<T>(extents, v.data_handle(), packed, to);
    return {to, count};
  }

 private:
  std::array<std::vector<std::byte>, Arguments> copies_{};
};

}  // namespace tx::exec
