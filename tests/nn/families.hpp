// Models of tests/parity/families.py, and its numbers.
#pragma once

#include <tx/expr/parameter_names.hpp>
#include <tx/io/safetensors.hpp>
#include <tx/nn/distilbert.hpp>
#include <tx/nn/electra.hpp>
#include <tx/nn/masked_lm.hpp>
#include <tx/nn/multiple_choice.hpp>
#include <tx/nn/roberta.hpp>
#include <tx/nn/sequence_classifier.hpp>
#include <tx/nn/token_classifier.hpp>

#include <ratio>
#include <string>

namespace families {

inline constexpr int vocabulary_size = 50, batch = 4, longest = 12, masked = 5, label_count = 3;

struct bert {
  static constexpr int layers = 3, hidden = 20, heads = 4, ffn = 30, vocabulary = vocabulary_size, positions = 15, types = 2;
  using family = tx::nn::bert_family;
};
struct roberta {
  static constexpr int layers = 1, hidden = 18, heads = 3, ffn = 26, vocabulary = vocabulary_size, positions = 17, types = 1, first_position = 2;
  using layer_norm_epsilon = std::ratio<1, 100'000>;
  using family = tx::nn::roberta_family;
};
struct distilbert {
  static constexpr int layers = 4, hidden = 14, heads = 2, ffn = 22, vocabulary = vocabulary_size, positions = 13, types = 0;
  using family = tx::nn::distilbert_family;
};
struct electra {
  static constexpr int layers = 2, hidden = 24, heads = 3, ffn = 30, vocabulary = vocabulary_size, positions = 14, types = 2, embedding = 10;
  using family = tx::nn::electra_family;
};

template <class Config>
inline std::string const name_of{Config::family::name.view()};

template <class Config>
tx::io::safetensors reference() {
  return tx::io::safetensors::read(TX_TEST_DIR "/../parity/data/families_" + name_of<Config> + ".safetensors");
}
// What a tensor of a model with a head is called there: the head's are apart, as heads call them alike.
template <class Config>
std::string weight_name(std::string const& head, std::string const& name) {
  return "weight." + (name.starts_with(name_of<Config> + ".") ? "" : head + ".") + name;
}

}  // namespace families
