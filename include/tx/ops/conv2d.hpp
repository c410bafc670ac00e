// conv2d<options>(x [N, C, H, W], weight [O, C / groups, height, width]) -> [N, O, rows, columns], and with bias [O]:
// PyTorch's two-dimensional cross-correlation, zeros beside x: y[n, o, r, s] = bias[o] + sum over c, i, j of
// weight[o, c, i, j] x[n, c, r stride - padding + i dilation, s stride - padding + j dilation].
//   auto const y = tx::conv2d<tx::conv2d_options{.stride = 2, .padding = 1}>(x, weight, bias);
// Computed as the product of patches(x) and the weight; the patches are held for the backward pass.
// Errors: what check_window refuses; channels that groups do not divide or that are not the weight's; a bounded batch with groups above 1.
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/patches.hpp>
#include <tx/ops/transpose.hpp>

namespace tx {

struct conv2d_options {
  height_width stride{1};
  height_width padding{0};
  height_width dilation{1};
  int groups = 1;
};

namespace detail {
// [N, C, H, W], [O, C / groups, h, w] -> [N, rows, columns, O]
constexpr var conv2d_by_product(var x, var weight, conv2d_options const& options) {
  shape const in = x.dims();
  shape const of = weight.dims();
  if (of.rank != 4)
    throw invalid("conv2d: the weight needs four axes, [out, in / groups, height, width]. FIX: reshape it");
  window const w{{of.dim[2], of.dim[3]}, options.stride, options.padding, options.dilation};
  check_window(w, in);
  int const groups = options.groups;
  if (groups < 1 || in.dim[1] % groups != 0 || of.dim[0] % groups != 0)
    throw invalid("conv2d: the groups do not divide the channels. FIX: a number of groups that divides both in and out");
  if (of.dim[1] != in.dim[1] / groups)
    throw invalid("conv2d: the weight is for another number of channels. FIX: its second extent is the tensor's channels / groups");
  int const depth = of.dim[1] * w.elements();
  shape const out = extents(in.at(0), w.rows(in.dim[2]), w.columns(in.dim[3]), of.dim[0]);
  var const rows = patches(x, w);  // [windows, C size], a group's channels side by side
  if (groups == 1) return reshape(matmul(rows, transpose(reshape(weight, shape{2, {}, {of.dim[0], depth}}))), out);
  bounded const windows = rows.dims().at(0);
  attributes const outer_first{{1, 0, 2}};
  var const left =
      transpose(reshape(rows, extents(windows, groups, depth)), outer_first);  // [groups, windows, depth]
  var const right =
      transpose(reshape(weight, shape{3, {}, {groups, of.dim[0] / groups, depth}}));  // [groups, depth, O / groups]
  return reshape(transpose(matmul(left, right), outer_first), out);
}

template <conv2d_options Options>
struct conv2d_fn {
  static constexpr attributes channels_second{{0, 3, 1, 2}};

  constexpr var operator()(var x, var weight) const {
    return transpose(conv2d_by_product(x, weight, Options), channels_second);
  }
  constexpr var operator()(var x, var weight, var bias) const {
    if (bias.dims().rank != 1 || weight.dims().rank != 4 || bias.dims().dim[0] != weight.dims().dim[0])
      throw invalid("conv2d: the bias needs one number for each channel of the result. FIX: [out]");
    return transpose(conv2d_by_product(x, weight, Options) + bias, channels_second);
  }
};
}  // namespace detail

template <conv2d_options Options = conv2d_options{}, handle X, handle W>
constexpr auto conv2d(X const& x, W const& weight) {
  return lift<detail::conv2d_fn<Options>>(x, weight);
}
template <conv2d_options Options = conv2d_options{}, handle X, handle W, handle B>
constexpr auto conv2d(X const& x, W const& weight, B const& bias) {
  return lift<detail::conv2d_fn<Options>>(x, weight, bias);
}

}  // namespace tx
