// What a run is given, and what must hold of it. Views become ranges: where they lie if they are dense, else copies.
#pragma once

#include <tx/graph/print.hpp>
#include <tx/run/extents.hpp>
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
        if (s.of(a).count(t) != 0) one = one && s.of(a) == factors::of(t) && s.dim[a] == most.most[t];
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
  for (result_ref const& r : Program::results) look(r.info.dims.of_count());
  return told;
}();

// What is said of argument number `at` with another number of elements than its type has: both shapes, where whole rows were given.
TX_COLD inline std::string unlike(int at, std::size_t given, value_info const& wanted) {
  std::int64_t const row = wanted.dims.rank == 0 || wanted.count() == 0 ? 0 : wanted.count() / wanted.dims.dim[0];
  auto const count = static_cast<std::int64_t>(given);
  std::string text = "executor: argument " + std::to_string(at) + " is a " + to_string(wanted) + ", " +
                     (wanted.dims.bounds != 0 ? "at most " : "") + std::to_string(wanted.count()) + " elements, and was given " + std::to_string(count);
  if (row > 0 && count % row == 0) {
    value_info like = wanted;
    like.dims.bounds = 0;
    like.dims.dim[0] = static_cast<int>(count / row);
    text += ", as " + to_string(like) + " has";
  } else if (row > 1) {
    text += ", which are no whole rows of " + std::to_string(row);
  }
  return text + ". FIX: as many as the step was compiled for, or compile it for others, or with a bounded extent, dyn<Max>";
}

// What a run's arguments tell of bounded extents. A view tells all of its own. A range has a number of elements alone, so it tells one that is
// not known from others; one with two waits for those behind it.
class told_extents {
 public:
  void reset(bound_table const& most) {
    extents_.bound_of = most;
    for (int& now : extents_.now) now = -1;
  }
  run_extents const& extents() const { return extents_; }

  // Throws shape_error for other extents than an argument before has.
  void by_view(int at, value_info const& wanted, view_extents const& has) {
    for (int a = 0; a < wanted.dims.rank; ++a)
      for (int t = 1; t <= max_tags; ++t)
        if (wanted.dims.of(a).count(t) != 0) note(at, t, a, has.extents[a]);
  }
  // -> whether all extents of that argument are known. Throws shape_error for a number of elements that it cannot have.
  bool by_count(int at, value_info const& wanted, std::size_t given) {
    int unknown = 0;
    for (int t = 1; t <= max_tags; ++t) {
      if (wanted.dims.of_count().count(t) == 0 || extents_.now[t] >= 0) continue;
      if (unknown != 0 || wanted.dims.of_count().count(t) != 1) return false;
      unknown = t;
    }
    if (unknown == 0) {
      if (static_cast<std::int64_t>(given) != extents_.count(wanted.dims)) other_count(at, wanted, given);
      return true;
    }
    int& now = extents_.now[unknown];
    now = 1;
    std::int64_t const each = extents_.count(wanted.dims);
    now = -1;
    if (each == 0) return false;
    auto const count = static_cast<std::int64_t>(given);
    if (count % each != 0 || count / each > extents_.bound_of.most[unknown]) throw shape_error(unlike(at, given, wanted));
    now = static_cast<int>(count / each);
    return true;
  }
  // What the program reads is there. Throws value_error.
  void check_least() const {
    for (int t = 1; t <= max_tags; ++t)
      if (extents_.now[t] >= 0 && extents_.now[t] < extents_.bound_of.least[t]) too_few(t);
  }
  [[noreturn]] TX_COLD static void not_told(int at, value_info const& wanted, std::size_t given) {
    throw shape_error("executor: argument " + std::to_string(at) + " is a " + to_string(wanted) + " and was given " + std::to_string(given) +
                      " elements, which do not tell its extents. FIX: a view that says them, as std::mdspan or tx::array_view");
  }

 private:
  [[noreturn]] TX_COLD void too_few(int tag) const {
    throw value_error("executor: a bounded extent, dyn<" + std::to_string(extents_.bound_of.most[tag]) + ", " + std::to_string(tag) + ">, is " +
                      std::to_string(extents_.now[tag]) + " in this run, and the program takes element " + std::to_string(extents_.bound_of.least[tag] - 1) +
                      " of it. FIX: at least " + std::to_string(extents_.bound_of.least[tag]));
  }
  void note(int at, int tag, int axis, std::int64_t has) {
    int& now = extents_.now[tag];
    if (now >= 0 && now != has) differ(at, axis, has, now);
    now = static_cast<int>(has);
  }
  [[noreturn]] TX_COLD static void differ(int at, int axis, std::int64_t has, int now) {
    throw shape_error("executor: argument " + std::to_string(at) + " has " + std::to_string(has) + (axis == 0 ? " rows" : " along axis " + std::to_string(axis)) +
                      "; an argument before it with the same bounded extent has " + std::to_string(now));
  }
  [[noreturn]] TX_COLD void other_count(int at, value_info const& wanted, std::size_t given) const {
    shape const& s = wanted.dims;
    bool rows_alone = s.is_bounded(0);
    for (int a = 1; a < s.rank; ++a) rows_alone = rows_alone && !s.is_bounded(a);
    std::int64_t const row = s.dim[0] == 0 ? 0 : s.count() / s.dim[0];
    if (rows_alone && row > 0 && static_cast<std::int64_t>(given) % row == 0)
      differ(at, 0, static_cast<std::int64_t>(given) / row, static_cast<int>(extents_.of(s.dim[0], s.of(0))));
    throw shape_error(unlike(at, given, wanted));
  }

  run_extents extents_{};
};

// The extents of argument K, of type Wanted. Throws shape_error for others than it may have.
template <int K, class Wanted, strided_view V>
view_extents extents_as(V const& v) {
  return tx::detail::extents_of(v, tx::detail::extents_of(Wanted::dims), {"executor: argument", K}, Wanted::dims);
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
