// Programs of rows with reductions, sums over rows and values that later sweeps need, for tests of kernels over rows.
#pragma once

#include "compare.hpp"

#include <tx/nn/layer_norm.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/dropout.hpp>
#include <tx/ops/erf.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/gelu.hpp>
#include <tx/ops/iota.hpp>
#include <tx/ops/mean.hpp>
#include <tx/ops/softmax.hpp>

namespace {

template <class T, auto... D>
using t = tx::tensor<T, D...>;

// Three passes with costly values between them, two of them kept.
template <int Rows, int Cols>
constexpr auto normalise = [](t<float, Rows, Cols> x) {
  auto const y = tx::exp(tx::erf(x) * 0.5);
  auto const centred = y - tx::mean<1>(y);
  return tx::softmax(centred / tx::sqrt(tx::mean<1>(centred * centred) + 1e-3));
};

template <int H>
struct norm_model {
  tx::nn::layer_norm<H> norm;
  tx::param<t<float, H>, tx::init::uniform<1, 1>> scale;
};
template <int Rows, int H, bool Drops>
constexpr auto norm_loss = [](norm_model<H> const& m, t<float, Rows, H> x) {
  auto const y = x * m.scale;
  auto const weights = tx::cast<float>(tx::iota<-1>(x));
  if constexpr (Drops) return tx::mean(tx::gelu(m.norm(tx::dropout(y))) * weights);
  else return tx::mean(tx::gelu(m.norm(y)) * weights);
};
template <int Rows, int H, bool Drops>
using norm_step = tx::train_step<norm_model<H>, norm_loss<Rows, H, Drops>, descent>;

// Are results the same bits whichever blocks and threads come first?
template <class Step, class... In>
bool same_in_both_orders(int runs, std::vector<In> const&... in) {
  values const forwards = outcome<Step, interpreted>(runs, in...);
  interpreter::host_device::reversed = true;
  values const backwards = outcome<Step, interpreted>(runs, in...);
  interpreter::host_device::reversed = false;
  return forwards == backwards;
}

}  // namespace
