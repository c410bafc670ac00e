// patches(x, window): the windows of x as rows of a matrix, [N, C, H, W] -> [N rows columns, C size]: a row for each
// window, batch first, in it channel by channel its elements; padding is 0. A convolution is one product with it
// (K. Chellapilla, S. Puri, P. Simard, High Performance Convolutional Neural Networks for Document Processing, 2006).
// Its gradient is its partner `folded`: each element of x adds up what windows made of it, in one order.
// Errors: see check_window.
#pragma once

#include <tx/ops/partitioned.hpp>
#include <tx/ops/window.hpp>

namespace tx {

namespace detail {
constexpr value_info patches_infer(value_info const* in, int, attributes const& at) {
  window const w = window_of(at);
  shape const& x = in[0].dims;
  check_window(w, x);
  return {in[0].type, extents(x.at(0) * (w.rows(x.dim[2]) * w.columns(x.dim[3])), x.at(1) * w.elements())};
}
// Beside its window folded has the height and width of the pictures.
constexpr attributes of_folded(attributes window, height_width extent) {
  window.v[4] = packed(extent);
  return window;
}
constexpr height_width folded_extent(attributes const& at) { return unpacked(at.v[4]); }
constexpr value_info folded_infer(value_info const* in, int, attributes const& at) {
  window const w = window_of(at);
  height_width const extent = folded_extent(at);
  int const windows = w.rows(extent.height) * w.columns(extent.width);
  return {in[0].type,
          extents(bounded(in[0].dims.dim[0] / windows, in[0].dims.factors_at(0)), bounded(in[0].dims.dim[1] / w.elements(), in[0].dims.factors_at(1)), extent.height,
                  extent.width)};
}
constexpr void patches_vjp(vjp_context& c);
constexpr void folded_vjp(vjp_context& c);
}  // namespace detail

inline constexpr op_info patches_info{
    .name = "patches", .kind = op_kind::whole, .arity = 1, .infer = detail::patches_infer, .vjp = detail::patches_vjp};
// folded(rows [N rows columns, C size]) -> [N, C, H, W]: for each element the sum of those that patches makes of it.
inline constexpr op_info folded_info{
    .name = "folded", .kind = op_kind::whole, .arity = 1, .infer = detail::folded_infer, .vjp = detail::folded_vjp};

namespace rules {
struct patches {
  // Shares are ranges of windows.
  template <class T>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    window const w = detail::window_of(at);
    int const channels = in.dims.dim[1], height = in.dims.dim[2], width = in.dims.dim[3];
    int const rows = w.rows(height), columns = w.columns(width);
    std::int64_t const windows = out.dims.dim[0];
    T* to = out.data + windows * share / shares * out.dims.dim[1];
    for (std::int64_t p = windows * share / shares; p < windows * (share + 1) / shares; ++p) {
      T const* const picture = in.data + p / (rows * columns) * channels * height * width;
      std::int64_t const top = window::first(p / columns % rows, w.stride.height, w.padding.height);
      std::int64_t const left = window::first(p % columns, w.stride.width, w.padding.width);
      index_range const down = inside(top, w.dilation.height, w.size.height, height);
      index_range const across = inside(left, w.dilation.width, w.size.width, width);
      for (int c = 0; c < channels; ++c)
        for (int i = 0; i < w.size.height; ++i) {
          bool const hit = i >= down.begin && i < down.end;
          std::int64_t const first = (c * std::int64_t{height} + top + i * w.dilation.height) * width + left;
          int j = 0;
          for (; j < (hit ? across.begin : 0); ++j) *to++ = T{};
          for (; j < (hit ? across.end : 0); ++j) *to++ = picture[first + j * w.dilation.width];
          for (; j < w.size.width; ++j) *to++ = T{};
        }
    }
  }
};

struct folded {
  // Shares are ranges of rows of pictures. An element at y is in window r as element i where
  // r stride - padding + i dilation = y.
  template <class T>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<T> out, whole_operand<T const> in) {
    window const w = detail::window_of(at);
    int const channels = out.dims.dim[1], height = out.dims.dim[2], width = out.dims.dim[3];
    int const rows = w.rows(height), columns = w.columns(width);
    std::int64_t const lines = std::int64_t{out.dims.dim[0]} * channels * height;
    for (std::int64_t line = lines * share / shares; line < lines * (share + 1) / shares; ++line) {
      std::int64_t const n = line / height / channels, c = line / height % channels, y = line % height;
      T* const to = out.data + line * width;
      for (int x = 0; x < width; ++x) to[x] = T(0);
      for (int i = 0; i < w.size.height; ++i) {
        std::int64_t const below = y + w.padding.height - i * w.dilation.height;
        std::int64_t const row = below / w.stride.height;
        if (below < 0 || below % w.stride.height != 0 || row >= rows) continue;
        for (int j = 0; j < w.size.width; ++j) {
          std::int64_t const first = window::first(0, w.stride.width, w.padding.width) + j * w.dilation.width;
          index_range const hit = inside(first, w.stride.width, columns, width);
          T const* const from = in.data + (c * w.size.height + i) * w.size.width + j;
          for (int s = hit.begin; s < hit.end; ++s)
            to[first + s * w.stride.width] += from[((n * rows + row) * columns + s) * in.dims.dim[1]];
        }
      }
    }
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&patches_info> {
  using type = rules::patches;
};
template <>
struct partitioned_rule<&folded_info> {
  using type = rules::folded;
};

constexpr var patches(var x, window const& w) {
  detail::check_window(w, x.dims());  // before the numbers are packed
  return emit(patches_info, {x}, detail::attributes_of(w));
}

}  // namespace tx

#include <tx/ops/cast.hpp>

namespace tx::detail {
constexpr void patches_vjp(vjp_context& c) {
  shape const x = c.in_info(0).dims;
  c.accumulate(0, emit(folded_info, {cast(c.gradient, sum_type(c.gradient.type()))}, of_folded(c.at(), {x.dim[2], x.dim[3]})));
}
constexpr void folded_vjp(vjp_context& c) {
  c.accumulate(0, emit(patches_info, {c.gradient}, attributes_of(window_of(c.at()))));
}
}  // namespace tx::detail
