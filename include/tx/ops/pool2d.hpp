// max_pool2d<size>(x), avg_pool2d<size>(x): the largest element and the mean of each window,
// [N, C, H, W] -> [N, C, rows, columns].
//   tx::max_pool2d<2>(x); tx::avg_pool2d<tx::pool2d_options{.size = 3, .stride = 2, .padding = 1}>(x)
// Of the largest, the first of equal elements is taken and has the gradient, NaN counts as larger than every number,
// and padding is never taken (where a dilated window meets padding alone it is 0). In the mean padding counts as zeros.
// So PyTorch has it.
// Errors: what check_window refuses; padding of more than half a window, which some windows would be made of alone.
#pragma once

#include <tx/ops/argmax.hpp>
#include <tx/ops/gather.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/patches.hpp>
#include <tx/ops/sum.hpp>

namespace tx {

struct pool2d_options {
  height_width size{1};
  height_width stride{0};  // 0: the size of a window
  height_width padding{0};
  height_width dilation{1};  // max_pool2d only
};

namespace detail {
constexpr window pool_window(pool2d_options const& o) {
  if (2 * o.padding.height > o.size.height || 2 * o.padding.width > o.size.width)
    throw invalid("max_pool2d, avg_pool2d: the padding is more than half a window. FIX: less padding");
  return {o.size,
          {o.stride.height == 0 ? o.size.height : o.stride.height, o.stride.width == 0 ? o.size.width : o.stride.width},
          o.padding,
          o.dilation};
}
constexpr value_info pool_places_infer(value_info const* in, int, attributes const& at) {
  window const w = window_of(at);
  check_window(w, in[0].dims);
  value_info out{dtype::i32, in[0].dims};
  out.dims.dim[--out.dims.rank] = 0;
  out.dims.dim[2] = w.rows(in[0].dims.dim[2]) * w.columns(in[0].dims.dim[3]);
  return out;
}
}  // namespace detail

// Where in a picture [H W] the largest element of each window is. [N, C, H, W] -> [N, C, rows columns].
inline constexpr op_info pool_places_info{.name = "pool_places",
                                          .kind = op_kind::whole,
                                          .arity = 1,
                                          .infer = detail::pool_places_infer,
                                          .differentiable = false};

namespace rules {
struct pool_places {
  // Shares are ranges of windows.
  template <class I, class T>
  static TX_HD void run(int share, int shares, attributes const& at, whole_operand<I> out, whole_operand<T const> in) {
    window const w = detail::window_of(at);
    int const height = in.dims.dim[2], width = in.dims.dim[3];
    int const rows = w.rows(height), columns = w.columns(width);
    std::int64_t const windows = out.dims.count();
    for (std::int64_t p = windows * share / shares; p < windows * (share + 1) / shares; ++p) {
      T const* const picture = in.data + p / (rows * columns) * height * width;
      std::int64_t const top = window::first(p / columns % rows, w.stride.height, w.padding.height);
      std::int64_t const left = window::first(p % columns, w.stride.width, w.padding.width);
      index_range const down = inside(top, w.dilation.height, w.size.height, height);
      index_range const across = inside(left, w.dilation.width, w.size.width, width);
      std::int64_t best = -1;
      for (int i = down.begin; i < down.end; ++i)
        for (int j = across.begin; j < across.end; ++j) {
          std::int64_t const here = (top + i * w.dilation.height) * width + left + j * w.dilation.width;
          if (best < 0 || detail::stands_before<false>(number_of(picture[here]), number_of(picture[best]))) best = here;
        }
      out.data[p] = static_cast<I>(best);
    }
  }
};
}  // namespace rules
template <>
struct partitioned_rule<&pool_places_info> {
  using type = rules::pool_places;
};

namespace detail {
// [N, C, rows, columns]
constexpr shape pooled(shape of, window const& w) {
  of.dim[2] = w.rows(of.dim[2]);
  of.dim[3] = w.columns(of.dim[3]);
  return of;
}

template <pool2d_options Options>
struct max_pool2d_fn {
  constexpr var operator()(var x) const {
    window const w = pool_window(Options);
    check_window(w, x.dims());
    shape const in = x.dims();
    var const flat = reshape(x, extents(in.at(0), in.at(1), in.at(2) * in.at(3)));
    return reshape(gather(flat, emit(pool_places_info, {x}, attributes_of(w)), 2), pooled(in, w));
  }
};
template <pool2d_options Options>
struct avg_pool2d_fn {
  constexpr var operator()(var x) const {
    window const w = pool_window(Options);
    check_window(w, x.dims());
    if (w.dilation != height_width(1)) throw invalid("avg_pool2d: windows have no dilation. FIX: leave it out");
    shape const in = x.dims();
    var const planes = reshape(x, extents(in.at(0) * in.at(1), 1, in.at(2), in.at(3)));
    return reshape(sum_fn<-1>{}(patches(planes, w)) * (1.0 / w.elements()), pooled(in, w));
  }
};
}  // namespace detail

template <pool2d_options Options, handle X>
constexpr auto max_pool2d(X const& x) {
  return lift<detail::max_pool2d_fn<Options>>(x);
}
template <int Size, handle X>
constexpr auto max_pool2d(X const& x) {
  return max_pool2d<pool2d_options{.size = Size}>(x);
}
template <pool2d_options Options, handle X>
constexpr auto avg_pool2d(X const& x) {
  return lift<detail::avg_pool2d_fn<Options>>(x);
}
template <int Size, handle X>
constexpr auto avg_pool2d(X const& x) {
  return avg_pool2d<pool2d_options{.size = Size}>(x);
}

}  // namespace tx
