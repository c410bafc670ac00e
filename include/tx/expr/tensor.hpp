// tensor<T, dims...>: the typed handle; element type and extents are template arguments, so a wrong shape fails where it is written.
#pragma once

#include <tx/expr/var.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace tx {

namespace detail {
// What bounded extents of a result are in a run; nothing where all are fixed.
struct no_extents {};
struct extents_now {
  int of_axis[max_rank] = {};
};
}  // namespace detail

// tensor<f32, 8, 128>: while a model is recorded, a node of its graph; in what a step hands back, a view of the value.
template <class T, auto... Dims>
struct tensor {
  using element_type = T;
  using tensor_type = tensor;
  static constexpr value_info info{dtype_v<T>, make_shape<Dims...>()};
  static constexpr shape dims = info.dims;

  graph* g = nullptr;
  int id = -1;
  T const* data = nullptr;  // results only: dense, row-major
  std::size_t elements = static_cast<std::size_t>(info.count());  // fewer in a result with a bounded extent
  [[no_unique_address]] std::conditional_t<dims.bounds != 0, detail::extents_now, detail::no_extents> now{};

  constexpr operator var() const { return {g, id}; }

  // Results: the one element of a scalar, elements, and their number.
  constexpr operator T() const
    requires(sizeof...(Dims) == 0)
  {
    return (*this)[0];
  }
  constexpr T operator[](std::size_t i) const {
    if (std::is_constant_evaluated() && data == nullptr)
      throw invalid("a tensor has no numbers while a model is recorded. FIX: where(less(a, b), x, y) chooses, slice<...>(x) takes a part; what a struct of results has is a tx::tensor<float>");
    return data[i];
  }
  constexpr std::size_t size() const { return elements; }
  constexpr int extent(int axis) const {
    if constexpr (dims.bounds != 0) return now.of_axis[axis];
    else return dims[axis];
  }
  constexpr T const* begin() const { return data; }
  constexpr T const* end() const { return data + size(); }
};

template <class H>
concept typed_handle = requires { typename H::tensor_type; };
template <class H>
concept handle = typed_handle<H> || std::same_as<H, var>;
template <class H>
concept number = std::is_arithmetic_v<H>;
template <class H>
concept operand = handle<H> || number<H>;

namespace detail {

template <value_info Info, int Axis>
inline constexpr auto dim_at = Info.dims.dim[Axis];
template <value_info Info, int Axis>
  requires(Info.dims.is_bounded(Axis))
inline constexpr auto dim_at<Info, Axis> = Info.dims.at(Axis);

template <value_info Info, class Axes>
struct tensor_from;
template <value_info Info, int... Axis>
struct tensor_from<Info, std::integer_sequence<int, Axis...>> {
  using type = tensor<element_t<Info.type>, dim_at<Info, Axis>...>;
};
// GCC 12 fails where the rank of a dependent info stands in an alias.
template <value_info Info>
struct tensor_of_all {
  using type = typename tensor_from<Info, std::make_integer_sequence<int, Info.dims.rank>>::type;
};

}  // namespace detail

// The handle type of a value.
template <value_info Info>
using tensor_of = typename detail::tensor_of_all<Info>::type;

}  // namespace tx
