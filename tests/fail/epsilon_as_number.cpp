// An epsilon of a configuration that is no type.
// expect: layer_norm_epsilon is a number. FIX: a type, using layer_norm_epsilon = std::ratio<1, 100'000>
#include <tx/nn/bert_layer.hpp>

struct config {
  static constexpr int hidden = 4, heads = 2, ffn = 8;
  static constexpr double layer_norm_epsilon = 1e-5;
};
tx::nn::layer_norm_of<config> norm;
