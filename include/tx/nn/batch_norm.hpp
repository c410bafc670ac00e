// batch_norm<C, Epsilon, Momentum>: each channel of mean 0 and variance 1, scaled and shifted, as PyTorch's BatchNorm1d and 2d.
// [N, C] -> [N, C], [N, C, L] -> the same, [N, C, H, W] -> the same. A program that trains takes mean and variance of the batch, and moves
// running_mean and running_var, states of the model, towards them by Momentum of the way (there with the variance of a sample); others,
// and tx::inference(layer), take those. Epsilon, what is added to the variance, and Momentum are std::ratios.
// A batch of bounded extents that has less than two elements for a channel leaves them as they are.
// On shards of a batch each takes its own mean and variance, and the running ones move to the mean of the shards'.
// Errors, while compiling: another number of channels; one element for each channel, which has no variance; a program that trains and calls
// one layer twice, as states are set once.
#pragma once

#include <tx/expr/state.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/extent_of.hpp>
#include <tx/ops/less.hpp>
#include <tx/ops/reshape.hpp>
#include <tx/ops/rsqrt.hpp>
#include <tx/ops/variance.hpp>
#include <tx/ops/where.hpp>

#include <ratio>

namespace tx::nn {

namespace detail {
// Of x [N, C, ...] the bounded axis along which all elements of a channel lie, as the others have one element; else -1.
constexpr int only_extent_of_channel(shape const& x) {
  int found = -1;
  for (int a = 0; a < x.rank; ++a) {
    if (a == 1 || (!x.is_bounded(a) && x.dim[a] == 1)) continue;
    if (found >= 0 || !x.is_bounded(a)) return -1;
    found = a;
  }
  return found;
}
// How far running statistics of x move: not at all where a batch has no two elements for a channel, of which there is no variance.
template <int... Axes>
struct moved_share_fn {
  constexpr var operator()(var x, var share) const {
    tx::detail::reduced_count const count(x, tx::detail::sum_fn<Axes...>{}(x).dims());
    return count.bounded_ones.valid() ? where(less(1.0, count.bounded_ones * count.each), share, 0.0) : share;
  }
};
}  // namespace detail

template <int C, class Epsilon = std::ratio<1, 100'000>, class Momentum = std::deci>
struct batch_norm {
  static constexpr double epsilon = static_cast<double>(Epsilon::num) / static_cast<double>(Epsilon::den);
  static constexpr double momentum = static_cast<double>(Momentum::num) / static_cast<double>(Momentum::den);

  param<tensor<f32, C>, init::ones, not_decayed> weight;
  param<tensor<f32, C>, init::zeros, not_decayed> bias;
  state<tensor<f32, C>> running_mean;
  state<tensor<f32, C>, init::ones> running_var;

  template <typed_handle X>
  constexpr auto operator()(X const& given) const {
    constexpr int rank = X::info.dims.rank;
    static_assert(rank >= 2 && rank <= 4 && X::info.dims.dim[1] == C,
                  "tx::nn::batch_norm: it takes [N, C], [N, C, L] or [N, C, H, W] with as many channels as it has. FIX: batch_norm<the second extent>, or a transpose that puts the channels second");
    auto const x = tx::cast<f32>(given);
    auto const of_x = [&](auto const& mean, auto const& variance) {
      return tx::cast<typename X::element_type>((x - mean) * tx::rsqrt(variance + epsilon) * beside<rank>(weight) + beside<rank>(bias));
    };
    if (!tx::in_training(x)) return of_x(beside<rank>(running_mean), beside<rank>(running_var));
    constexpr int only_bounded = detail::only_extent_of_channel(X::dims);
    if constexpr (only_bounded >= 0) given.g->bound_of.need(X::dims.at(only_bounded), 2);  // of one element there is no variance to move towards
    auto const mean = over_batch<rank>([&]<int... Axes>() { return tx::lift<tx::detail::exact_mean_fn<Axes...>>(x); });
    auto const of_batch = over_batch<rank>([&]<int... Axes>() { return tx::variance<Axes...>(x, 0); });
    auto const of_sample = over_batch<rank>([&]<int... Axes>() { return tx::variance<Axes...>(x, 1); });
    auto const share = over_batch<rank>([&]<int... Axes>() { return tx::lift<detail::moved_share_fn<Axes...>>(x, momentum); });
    move(running_mean, mean, share);
    move(running_var, of_sample, share);
    return of_x(mean, of_batch);
  }

 private:
  // [C] -> as it broadcasts over a batch
  template <int Rank, typed_handle V>
  static constexpr auto beside(V const& v) {
    if constexpr (Rank == 2) return tx::reshape<1, C>(v);
    else if constexpr (Rank == 3) return tx::reshape<1, C, 1>(v);
    else return tx::reshape<1, C, 1, 1>(v);
  }
  template <int Rank, class F>
  static constexpr auto over_batch(F const& f) {
    if constexpr (Rank == 2) return f.template operator()<0>();
    else if constexpr (Rank == 3) return f.template operator()<0, 2>();
    else return f.template operator()<0, 2, 3>();
  }
  template <class State, typed_handle V>
  static constexpr void move(State const& running, V const& now, auto const& share) {
    running.set(running + (tx::reshape<C>(now) - running) * share);
  }
};

}  // namespace tx::nn
