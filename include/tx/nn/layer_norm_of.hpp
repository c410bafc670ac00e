// layer_norm_of<Config>: the layer norm of a configuration, over its hidden values, with the epsilon that it names: a type, as
// `using layer_norm_epsilon = std::ratio<1, 100'000>`, 1e-12 unless said. [..., hidden] -> the same.
#pragma once

#include <tx/nn/layer_norm.hpp>

#include <ratio>

namespace tx::nn {

namespace detail {
template <class Config>
struct epsilon_of {
  using type = std::pico;
};
template <class Config>
  requires requires { Config::layer_norm_epsilon; }
struct epsilon_of<Config> {
  static_assert(sizeof(Config) == 0, "tx::nn: layer_norm_epsilon is a number. FIX: a type, using layer_norm_epsilon = std::ratio<1, 100'000>");
};
template <class Config>
  requires requires { typename Config::layer_norm_epsilon; }
struct epsilon_of<Config> {
  using type = typename Config::layer_norm_epsilon;
};
}  // namespace detail

template <class Config>
using layer_norm_of = layer_norm<Config::hidden, typename detail::epsilon_of<Config>::type>;

}  // namespace tx::nn
