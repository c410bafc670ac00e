// Views of the caller's memory: anything that says its extents, its strides and where it begins, as array_view does, and C++23's std::mdspan.
// They are arguments of a run, and what values are copied from and to.
//
//   run(tx::array_view<float const>{{2, {32, 784}, {784, 1}}, pixels}, labels);  // extents are checked; columns side by side would be copied
//   tx::copy_elements(tx::view_of(run(x).value), mine);    // a result, into a view of the same extents
#pragma once

#include <tx/core/error.hpp>
#include <tx/expr/tensor.hpp>

#include <concepts>
#include <span>
#include <string>
#include <type_traits>

namespace tx {

// Strides count elements. If it has rank(), that is checked too.
template <class V>
concept strided_view = requires(V const& v, std::size_t axis) {
  { v.extent(axis) } -> std::convertible_to<std::int64_t>;
  { v.stride(axis) } -> std::convertible_to<std::int64_t>;
  requires std::is_pointer_v<std::remove_cvref_t<decltype(v.data_handle())>>;
};
template <strided_view V>
using view_element = std::remove_pointer_t<std::remove_cvref_t<decltype(std::declval<V const&>().data_handle())>>;

// Extents and strides in elements, outermost axis first.
struct view_extents {
  int axes = 0;
  std::int64_t extents[max_rank] = {};
  std::int64_t strides[max_rank] = {};

  std::int64_t count() const {
    std::int64_t n = 1;
    for (int i = 0; i < axes; ++i) n *= extents[i];
    return n;
  }
  // Do the elements lie one after the other, the last axis fastest?
  bool dense() const {
    std::int64_t next = 1;
    for (int i = axes - 1; i >= 0; --i) {
      if (extents[i] != 1 && strides[i] != next) return count() == 0;
      next *= extents[i];
    }
    return true;
  }
  // Row-major strides of the extents.
  void pack() {
    std::int64_t next = 1;
    for (int i = axes - 1; i >= 0; --i) {
      strides[i] = next;
      next *= extents[i];
    }
  }
};

// tx's own view, of any rank up to max_rank.
template <class T>
struct array_view : view_extents {
  T* data = nullptr;

  std::size_t rank() const { return static_cast<std::size_t>(axes); }
  std::int64_t extent(std::size_t axis) const { return extents[axis]; }
  std::int64_t stride(std::size_t axis) const { return strides[axis]; }
  T* data_handle() const { return data; }
};

namespace detail {

// Whose extents an error is about: "executor: argument 2".
struct view_role {
  char const* name;
  int number = -1;
};
TX_COLD inline std::string text_of(view_role who) {
  return who.name + (who.number < 0 ? "" : ' ' + std::to_string(who.number));
}
// "[4, 3]"
TX_COLD inline std::string extents_text(view_extents const& v) {
  std::string s = "[";
  for (int i = 0; i < v.axes; ++i) s += (i > 0 ? ", " : "") + std::to_string(v.extents[i]);
  return s + "]";
}
[[noreturn]] TX_COLD inline void other_rank(view_role who, std::size_t has, int wanted) {
  throw shape_error(text_of(who) + " has " + std::to_string(has) + " axes; it must have " + std::to_string(wanted) + ". FIX: a view with the axes that the program was compiled for");
}
[[noreturn]] TX_COLD inline void other_extents(view_role who, view_extents const& has, view_extents const& wanted,
                                               shape const& bounds) {
  bool rows_alone = true;
  for (int i = 1; i < bounds.rank; ++i) rows_alone = rows_alone && !bounds.is_bounded(i);
  throw shape_error(text_of(who) + " has the extents " + extents_text(has) + "; it must have " + extents_text(wanted) +
                    (bounds.bounds == 0 ? "" : rows_alone ? ", or fewer rows" : ", or fewer along axes that are bounded") + ". FIX: the extents that the program was compiled for");
}

inline view_extents extents_of(shape const& dims) {
  view_extents e{};
  e.axes = dims.rank;
  for (int i = 0; i < dims.rank; ++i) e.extents[i] = dims.dim[i];
  e.pack();
  return e;
}
// Throws shape_error unless the view has the wanted extents; where `bounds` is bounded it may have less.
template <strided_view V>
view_extents extents_of(V const& v, view_extents const& wanted, view_role who, shape const& bounds = {}) {
  view_extents e{};
  e.axes = wanted.axes;
  if constexpr (requires {
                  { v.rank() } -> std::convertible_to<std::size_t>;
                })
    if (auto const rank = static_cast<std::size_t>(v.rank()); rank != static_cast<std::size_t>(wanted.axes))
      other_rank(who, rank, wanted.axes);
  for (int i = 0; i < e.axes; ++i) {
    auto const axis = static_cast<std::size_t>(i);
    e.extents[i] = static_cast<std::int64_t>(v.extent(axis));
    e.strides[i] = static_cast<std::int64_t>(v.stride(axis));
  }
  for (int i = 0; i < e.axes; ++i)
    if (e.extents[i] < 0 || (bounds.is_bounded(i) ? e.extents[i] > wanted.extents[i] : e.extents[i] != wanted.extents[i]))
      other_extents(who, e, wanted, bounds);
  return e;
}

// Both of the extents of `from`.
template <class T>
void copy_axes(view_extents const& from, T const* source, view_extents const& to, T* target, int axis = 0) {
  if (axis == from.axes) {
    *target = *source;
    return;
  }
  for (std::int64_t i = 0; i < from.extents[axis]; ++i) {
    T const* const one = source + i * from.strides[axis];
    T* const other = target + i * to.strides[axis];
    if (axis + 1 == from.axes)
      *other = *one;
    else
      copy_axes(from, one, to, other, axis + 1);
  }
}

}  // namespace detail

// A result of a run, until the next one; a bounded extent is what the run had.
template <class T, auto... Dims>
array_view<T const> view_of(tensor<T, Dims...> const& result) {
  array_view<T const> v{detail::extents_of(result.dims), result.data};
  for (int a = 0; a < v.axes; ++a) v.extents[a] = result.extent(a);
  v.pack();
  return v;
}
// A parameter, as tensors() of an executor or a parameter_block gives it: anything with `dims` and `data`. Of a model of several types
// view_of<T>(parameter) with the type it has.
template <class Parameter>
requires requires(Parameter const& p) { p.data.data(), p.dims.rank; }
auto view_of(Parameter const& p) {
  static_assert(!requires { p.type; }, "tx::view_of: the parameters of this model have several types, and `data` is their bytes. FIX: view_of<T>(parameter) with the type it has");
  using T = std::remove_pointer_t<decltype(p.data.data())>;
  return array_view<T>{detail::extents_of(p.dims), p.data.data()};
}

template <class As, class Parameter>
  requires requires(Parameter const& p) { p.template as<As>(), p.dims.rank; }
auto view_of(Parameter const& p) {
  auto const elements = p.template as<As>();
  return array_view<typename decltype(p.template as<As>())::element_type>{detail::extents_of(p.dims), elements.data()};
}

// Copies one view's elements to another of the same extents, which must not overlap it. Throws shape_error if the
// extents differ.
template <strided_view From, strided_view To>
void copy_elements(From const& from, To const& to) {
  using T = view_element<To>;
  static_assert(std::is_same_v<std::remove_const_t<view_element<From>>, T>,
                "tx::copy_elements: the views differ in element type, or the second is constant. FIX: views of one "
                "type, the second writable");
  static_assert(
      requires { from.rank(), to.rank(); },
      "tx::copy_elements: a view does not tell its rank. FIX: give it rank(), or use tx::array_view");
  view_extents wanted{};
  wanted.axes = static_cast<int>(to.rank());
  if (wanted.axes > max_rank)
    throw shape_error("copy_elements: the target has " + std::to_string(wanted.axes) + " axes; at most " +
                      std::to_string(max_rank) + " are copied");
  for (int i = 0; i < wanted.axes; ++i)
    wanted.extents[i] = static_cast<std::int64_t>(to.extent(static_cast<std::size_t>(i)));
  view_extents const source = detail::extents_of(from, wanted, {"copy_elements: the source"});
  view_extents const target = detail::extents_of(to, wanted, {"copy_elements: the target"});
  detail::copy_axes<T>(source, from.data_handle(), target, to.data_handle());
}

}  // namespace tx
