// gru<In, Hidden>: a layer of gated recurrent units over time (Cho et al., arXiv 1406.1078), named, shaped and started as a single layer of PyTorch's GRU.
// [time, batch, In] -> carry, the last state [batch, Hidden], and out [time, batch, Hidden]. What the inputs give to all gates is one product for all
// times; the loop over time has the state's alone.
//
//   auto const [last, all] = gru(x);           // x [time, batch, In] -> last [batch, Hidden], all [time, batch, Hidden]
//   auto const [last, all] = gru(x, first);    // first [batch, Hidden]; zeros unless given
#pragma once

#include <tx/expr/scan.hpp>
#include <tx/nn/uniform_by_hidden.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/full.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/sub.hpp>
#include <tx/ops/tanh.hpp>

namespace tx::nn {

template <int In, int Hidden>
struct gru {
  // Gates one below the other: reset, update, new.
  param<tensor<f32, 3 * Hidden, In>, uniform_by_hidden<Hidden>> weight_ih_l0;
  param<tensor<f32, 3 * Hidden, Hidden>, uniform_by_hidden<Hidden>> weight_hh_l0;
  param<tensor<f32, 3 * Hidden>, uniform_by_hidden<Hidden>, not_decayed> bias_ih_l0;
  param<tensor<f32, 3 * Hidden>, uniform_by_hidden<Hidden>, not_decayed> bias_hh_l0;

  template <direction Way = direction::forward, typed_handle X, typed_handle First>
  constexpr auto operator()(X const& x, First const& first) const {
    static_assert(X::dims.rank == 3, "tx::nn::gru: the input is no [time, batch, In]. FIX: transpose<1, 0, 2>(x) where the batch comes first");
    static_assert(X::dims.at(-1) == bounded(In), "tx::nn::gru: the input's last axis is not In. FIX: gru<In, Hidden> with the width of the input, [time, batch, In]");
    static_assert(First::dims == extents(X::dims.at(1), Hidden), "tx::nn::gru: the first state is no [batch, Hidden] of the input's batch. FIX: those extents, or none, for zeros");
    static_assert(!X::dims.is_bounded(0), "tx::nn::gru: time is bounded, and a scan has a fixed number of iterations. FIX: a fixed extent, padded, and a scan of step() that keeps the state, where(is_word, next, h)");
    auto const from_input = matmul(x, transpose(weight_ih_l0)) + bias_ih_l0;  // [time, batch, 3 Hidden]
    return scan<X::dims.dim[0], Way>(
        [&](auto const& h, auto const& now) {
          auto const next = step(h, now);
          return scanned{next, next};
        },
        first, from_input);
  }
  template <direction Way = direction::forward, typed_handle X>
  constexpr auto operator()(X const& x) const {
    return this->template operator()<Way>(x, zeros<tensor_of<value_info{dtype::f32, extents(X::dims.at(1), Hidden)}>>(x));
  }

  // One moment: h [batch, Hidden], from_input [batch, 3 Hidden] -> the next h.
  constexpr auto step(handle auto const& h, handle auto const& from_input) const {
    auto const from_state = matmul(h, transpose(weight_hh_l0)) + bias_hh_l0;
    auto const reset = sigmoid(gate<0>(from_input) + gate<0>(from_state));
    auto const update = sigmoid(gate<1>(from_input) + gate<1>(from_state));
    auto const proposed = tanh(gate<2>(from_input) + reset * gate<2>(from_state));
    return proposed + update * (h - proposed);
  }

 private:
  template <int Gate>
  static constexpr auto gate(handle auto const& all) {
    return slice<-1, Gate * Hidden, Hidden>(all);
  }
};

}  // namespace tx::nn
