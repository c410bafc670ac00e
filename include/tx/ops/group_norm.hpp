// group_norm<Groups>(x, scale [C], shift [C], epsilon): neighbouring channels form groups; the elements of each group, in
// each of the batch, get mean 0 and variance 1, then each channel its scale and shift (Wu and He, arXiv 1803.08494).
// [batch, C, ...] -> the same.
// Errors: channels that do not divide into the groups; scale or shift that are not [C].
#pragma once

#include <tx/ops/layer_norm.hpp>

namespace tx {

namespace detail {
template <int Groups>
struct group_norm_fn {
  static_assert(Groups > 0, "tx::group_norm: there is at least one group. FIX: group_norm<N> with N of at least 1");

  constexpr var operator()(var x, var scale, var shift, var epsilon) const {
    if (is_storage_only(x.type())) return in_f32(*this, x, scale, shift, epsilon);
    shape const from = x.dims();
    if (from.rank < 2)
      throw invalid("group_norm: the tensor has no axis of channels. FIX: reshape it to [batch, channels, ...]");
    int const channels = from.dim[1];
    if (channels % Groups != 0)
      throw invalid("group_norm: the channels do not divide into the groups. FIX: a number of groups that divides axis 1");
    shape const each{1, {}, {channels}};
    if (!(scale.dims() == each) || !(shift.dims() == each))
      throw invalid("group_norm: scale and shift hold one number for each channel. FIX: give both the shape [channels]");
    shape grouped = extents(from.at(0), Groups, channels / Groups);
    shape by_channel{from.rank - 1, {}, {channels}};  // [C, 1, ...]
    for (int i = 2; i < from.rank; ++i) {
      grouped.set(2, grouped.at(2) * from.at(i));
      by_channel.dim[i - 1] = 1;
    }
    var const normal = reshape(standardized(reshape(x, grouped), epsilon), from);
    return normal * reshape(scale, by_channel) + reshape(shift, by_channel);
  }
};
}  // namespace detail

template <int Groups, handle X, handle S, handle B>
constexpr auto group_norm(X const& x, S const& scale, B const& shift, double epsilon = 1e-5) {
  return lift<detail::group_norm_fn<Groups>>(x, scale, shift, epsilon);
}

}  // namespace tx
