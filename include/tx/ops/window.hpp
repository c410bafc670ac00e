// Windows over the last two axes of a tensor [batch, channel, height, width]: what convolutions and pools share.
#pragma once

#include <tx/graph/op_info.hpp>

namespace tx {

// A number for each of the two axes; one number stands for both.
struct height_width {
  int height = 1;
  int width = 1;

  constexpr height_width(int both) : height(both), width(both) {}
  constexpr height_width(int of_height, int of_width) : height(of_height), width(of_width) {}
  constexpr bool operator==(height_width const&) const = default;
};

// Element (i, j) of window (y, x) is at (y stride - padding + i dilation, x stride - padding + j dilation); where that is
// outside of the tensor there is padding.
struct window {
  height_width size{1};
  height_width stride{1};
  height_width padding{0};
  height_width dilation{1};

  TX_HD static constexpr std::int64_t first(std::int64_t position, int stride_of, int padding_of) {
    return position * stride_of - padding_of;
  }

  // How many windows there are along an axis.
  TX_HD static constexpr int count(int extent, int size_of, int stride_of, int padding_of, int dilation_of) {
    return (extent + 2 * padding_of - dilation_of * (size_of - 1) - 1) / stride_of + 1;
  }
  TX_HD constexpr int rows(int height) const {
    return count(height, size.height, stride.height, padding.height, dilation.height);
  }
  TX_HD constexpr int columns(int width) const {
    return count(width, size.width, stride.width, padding.width, dilation.width);
  }
  TX_HD constexpr int elements() const { return size.height * size.width; }
};

// The k of 0 ... count - 1 with 0 <= first + k step < extent: from begin on, below end; none where that is not above begin.
struct index_range {
  int begin;
  int end;
};
TX_HD constexpr index_range inside(std::int64_t first, int step, int count, int extent) {
  std::int64_t const begin = first < 0 ? (step - 1 - first) / step : 0;
  std::int64_t const end = first < extent ? (extent - 1 - first) / step + 1 : 0;
  return {static_cast<int>(begin < count ? begin : count), static_cast<int>(end < count ? end : count)};
}

namespace detail {

// A window as attributes 0 ... 3 of a node.
constexpr std::int64_t packed(height_width p) { return (std::int64_t{p.height} << 32) + p.width; }
TX_HD constexpr height_width unpacked(std::int64_t v) {
  return {static_cast<int>(v >> 32), static_cast<int>(v & 0x7fffffff)};
}
constexpr attributes attributes_of(window const& w) {
  return {{packed(w.size), packed(w.stride), packed(w.padding), packed(w.dilation)}};
}
TX_HD constexpr window window_of(attributes const& at) {
  return {unpacked(at.v[0]), unpacked(at.v[1]), unpacked(at.v[2]), unpacked(at.v[3])};
}

constexpr void check_window(window const& w, shape const& x) {
  if (x.rank != 4)
    throw invalid("convolutions and pools need four axes, [batch, channel, height, width]. FIX: reshape the tensor");
  if (x.is_bounded(2) || x.is_bounded(3)) throw invalid("a window runs along a bounded axis, whose end is known at run time only. FIX: a fixed height and width");
  auto bad = [](height_width p, int least) { return p.height < least || p.width < least; };
  if (bad(w.size, 1) || bad(w.stride, 1) || bad(w.dilation, 1) || bad(w.padding, 0))
    throw invalid("a window's size, stride and dilation are at least 1, its padding at least 0. FIX: give such numbers");
  if (x.dim[2] + 2 * w.padding.height < w.dilation.height * (w.size.height - 1) + 1 ||
      x.dim[3] + 2 * w.padding.width < w.dilation.width * (w.size.width - 1) + 1)
    throw invalid("a window is larger than the padded tensor. FIX: a smaller window or dilation, or more padding");
}

}  // namespace detail

}  // namespace tx
