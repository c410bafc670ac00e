// What of a network its step trains, as tx_add_bert was told: all of it, or parts that are chosen by name, or adapters of low rank beside its layers and
// its head. Included behind the model's header.
#pragma once

#include "../command_line/run_of.hpp"

#include <tx/expr/by_name.hpp>
#include <tx/nn/lora.hpp>
#include <tx/train/adamw.hpp>
#include <tx/train/averaged.hpp>
#include <tx/train/options.hpp>
#include <tx/train/step.hpp>

#include <type_traits>

namespace bert::TX_ON_CHOSEN(detail) {

template <class Network, class Names>
struct by_names;
template <class Network, tx::fixed_string... Names>
struct by_names<Network, tx::names<Names...>> {
  using trained = tx::trained_where<Network, Names...>;
  using frozen = tx::frozen_where<Network, Names...>;
};

// Tuning: what the model's header says of it. Head: names of the head's tensors.
template <class Network, class Head, class Tuning>
constexpr auto tuned_as() {
  using no_names = tx::names<>;
  constexpr bool by_default = std::is_same_v<typename Tuning::trained, no_names>;
  if constexpr (Tuning::rank > 0) {
    constexpr tx::nn::lora_options options{.rank = Tuning::rank, .alpha = Tuning::alpha, .dropout = Tuning::dropout};
    return std::type_identity<tx::nn::lora<Network, options, typename Tuning::adapted, std::conditional_t<by_default, Head, typename Tuning::trained>>>{};
  } else if constexpr (!by_default) {
    return std::type_identity<typename by_names<Network, typename Tuning::trained>::trained>{};
  } else if constexpr (!std::is_same_v<typename Tuning::frozen, no_names>) {
    return std::type_identity<typename by_names<Network, typename Tuning::frozen>::frozen>{};
  } else {
    return std::type_identity<Network>{};
  }
}

// Its tensors keep their names, and those of adapters stand beside them; tx::unwrapped(m) is the network.
template <class Network, class Head = tx::names<>>
using tuned = typename decltype(tuned_as<Network, Head, model::tuning>())::type;
using sequence_head = tx::names<"*classifier.*">;  // DistilBERT's has two layers, of which one is pre_classifier

// Devices multiply halves fast wherever this machine's processor does not.
#if defined(TX_FOR_CUDA) || defined(TX_FOR_HIP)
inline constexpr bool halves = model::tuning::bf16_on_devices;
#else
inline constexpr bool halves = model::tuning::bf16;
#endif

// A step by the optimizer that was named, or else by this one, with the moving average that is wanted, products of the type that they are wanted in, and as many
// for an update as there are to be.
template <class Network, auto Loss, class Otherwise, class... Options>
constexpr auto step_as() {
  using plain = std::conditional_t<std::is_void_v<model::tuning::optimizer>, Otherwise, model::tuning::optimizer>;
  using optimizer = std::conditional_t<(model::tuning::average > 0), tx::averaged<plain, tx::average_options{model::tuning::average}>, plain>;
  using accumulated = tx::accumulate_runs<model::tuning::accumulate>;
  constexpr int ranks = model::tuning::ranks, zero = model::tuning::zero, tensor = model::tuning::tensor;
  if constexpr (halves) return std::type_identity<command_line::step_of_so_many<ranks, zero, tensor, Network, Loss, optimizer, Options..., accumulated, tx::mixed<tx::bf16>>>{};
  else return std::type_identity<command_line::step_of_so_many<ranks, zero, tensor, Network, Loss, optimizer, Options..., accumulated>>{};
}
template <class Network, auto Loss, class Otherwise, class... Options>
using step_of = typename decltype(step_as<Network, Loss, Otherwise, Options...>())::type;

template <class Network, auto Loss>
using tuned_step = std::conditional_t<model::tuning::layer_decay, step_of<Network, Loss, tx::adamw, tx::layer_decay<model::tuning::below>>, step_of<Network, Loss, tx::adamw>>;

}  // namespace bert::detail
