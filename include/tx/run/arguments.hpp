// What a run is given, and what must hold of it. Views become ranges: where they lie if they are dense, else copies.
#pragma once

#include <tx/graph/print.hpp>
#include <tx/plan/plan.hpp>
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

// Arguments whose bounded extents have one tag have one bound.
template <class Arguments>
inline constexpr bool one_bound_each = true;
template <class... T>
inline constexpr bool one_bound_each<std::tuple<T...>> = [] {
  int max[max_tags + 1] = {};
  bool one = true;
  [[maybe_unused]] auto look = [&](shape const& s) {
    if (!s.tag) return;
    one = one && (max[s.tag.id] == 0 || max[s.tag.id] == s.tag.max);
    max[s.tag.id] = s.tag.max;
  };
  (look(T::dims), ...);
  return one;
}();

// Each bounded extent of a program is that of an argument, which tells how many there are.
template <class Program, class Arguments>
inline constexpr bool bounds_are_told = false;
template <class Program, class... T>
inline constexpr bool bounds_are_told<Program, std::tuple<T...>> = [] {
  bool told[max_tags + 1] = {true};
  ((told[T::dims.tag.id] = true), ...);
  for (call const& c : Program::calls)
    if (!told[c.tag] || !told[c.depth_tag]) return false;
  for (result_ref const& r : Program::results)
    if (!told[r.info.dims.tag.id]) return false;
  return true;
}();

// What is said of argument number `at` with another number of elements than its type has: both shapes, where whole rows were given.
TX_COLD inline std::string unlike(int at, std::size_t given, value_info const& wanted) {
  std::int64_t const row = wanted.dims.rank == 0 || wanted.count() == 0 ? 0 : wanted.count() / wanted.dims.dim[0];
  auto const count = static_cast<std::int64_t>(given);
  std::string text = "executor: argument " + std::to_string(at) + " is a " + to_string(wanted) + ", " +
                     (wanted.dims.tag ? "at most " : "") + std::to_string(wanted.count()) + " elements, and was given " + std::to_string(count);
  if (row > 0 && count % row == 0) {
    value_info like = wanted;
    like.dims.tag = {};
    like.dims.dim[0] = static_cast<int>(count / row);
    text += ", as " + to_string(like) + " has";
  } else if (row > 1) {
    text += ", which are no whole rows of " + std::to_string(row);
  }
  return text + ". FIX: as many as the step was compiled for, or compile it for others, or with a bounded extent, dyn<Max>";
}

// Copies of arguments that are views of other strides than row-major: memory that is taken when the first one comes,
// and kept.
template <int Arguments>
class view_copies {
 public:
  // Argument K of type Wanted as a range. Throws shape_error for other extents.
  template <int K, class Wanted, strided_view V>
  std::span<std::remove_const_t<view_element<V>> const> range(V const& v) {
    using T = std::remove_const_t<view_element<V>>;
    static_assert(
        std::is_same_v<T, typename Wanted::element_type>,
        "tx::executor: a view has another element type than the step's argument. FIX: pass a view of that type");
    view_extents const extents = tx::detail::extents_of(v, tx::detail::extents_of(Wanted::dims),
                                                        {"executor: argument", K}, Wanted::dims.tag.id != 0);
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
