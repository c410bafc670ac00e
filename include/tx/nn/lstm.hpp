// lstm<In, Hidden>: a layer of long short-term memory over time (Hochreiter and Schmidhuber 1997), named, shaped and started as a single layer of PyTorch's
// LSTM. [time, batch, In] -> carry, the last state (hidden and cell, [batch, Hidden] each), and out [time, batch, Hidden].
// What the inputs give to all gates is one product for all times; the loop over time has the state's alone.
//
//   auto const [last, all] = lstm(x);          // x [time, batch, In] -> all [time, batch, Hidden]; last.hidden, last.cell [batch, Hidden]
//   auto const [last, all] = lstm(x, first);   // first: an lstm_state; zeros unless given
#pragma once

#include <tx/expr/scan.hpp>
#include <tx/nn/uniform_by_hidden.hpp>
#include <tx/ops/add.hpp>
#include <tx/ops/full.hpp>
#include <tx/ops/matmul.hpp>
#include <tx/ops/mul.hpp>
#include <tx/ops/sigmoid.hpp>
#include <tx/ops/slice.hpp>
#include <tx/ops/tanh.hpp>

namespace tx::nn {

template <class State>
struct lstm_state {
  State hidden, cell;  // [batch, Hidden] each
};
template <class State>
lstm_state(State, State) -> lstm_state<State>;

template <int In, int Hidden>
struct lstm {
  // Gates one below the other: input, forget, cell, output.
  param<tensor<f32, 4 * Hidden, In>, uniform_by_hidden<Hidden>> weight_ih_l0;
  param<tensor<f32, 4 * Hidden, Hidden>, uniform_by_hidden<Hidden>> weight_hh_l0;
  param<tensor<f32, 4 * Hidden>, uniform_by_hidden<Hidden>, not_decayed> bias_ih_l0;
  param<tensor<f32, 4 * Hidden>, uniform_by_hidden<Hidden>, not_decayed> bias_hh_l0;

  template <direction Way = direction::forward, typed_handle X, class State>
  constexpr auto operator()(X const& x, lstm_state<State> const& first) const {
    static_assert(X::dims.rank == 3, "tx::nn::lstm: the input is no [time, batch, In]. FIX: transpose<1, 0, 2>(x) where the batch comes first");
    static_assert(X::dims.at(-1) == bounded(In), "tx::nn::lstm: the input's last axis is not In. FIX: lstm<In, Hidden> with the width of the input, [time, batch, In]");
    static_assert(State::dims == extents(X::dims.at(1), Hidden), "tx::nn::lstm: the first state is no [batch, Hidden] of the input's batch. FIX: those extents, or none, for zeros");
    static_assert(!X::dims.is_bounded(0), "tx::nn::lstm: time is bounded, and a scan has a fixed number of iterations. FIX: a fixed extent, padded, and a scan of step() that keeps the state, where(is_word, next, h)");
    auto const from_input = matmul(x, transpose(weight_ih_l0)) + bias_ih_l0;  // [time, batch, 4 Hidden]
    return scan<X::dims.dim[0], Way>(
        [&](auto const& state, auto const& now) {
          auto const next = step(state, now);
          return scanned{next, next.hidden};
        },
        first, from_input);
  }
  template <direction Way = direction::forward, typed_handle X>
  constexpr auto operator()(X const& x) const {
    auto const nothing = zeros<tensor_of<value_info{dtype::f32, extents(X::dims.at(1), Hidden)}>>(x);
    return this->template operator()<Way>(x, lstm_state{nothing, nothing});
  }

  // One moment: from_input [batch, 4 Hidden] -> the next state.
  template <class State>
  constexpr auto step(lstm_state<State> const& state, handle auto const& from_input) const {
    auto const gates = from_input + matmul(state.hidden, transpose(weight_hh_l0)) + bias_hh_l0;
    State const cell = sigmoid(gate<1>(gates)) * state.cell + sigmoid(gate<0>(gates)) * tanh(gate<2>(gates));
    State const hidden = sigmoid(gate<3>(gates)) * tanh(cell);
    return lstm_state{hidden, cell};
  }

 private:
  template <int Gate>
  static constexpr auto gate(handle auto const& all) {
    return slice<-1, Gate * Hidden, Hidden>(all);
  }
};

}  // namespace tx::nn
