// The network's numbers. A model of another size is another `config`.
#pragma once

#include <ratio>

namespace gpt {

struct config {
  static constexpr int bytes = 256, context = 256, hidden = 128, heads = 4, layers = 4, ffn = 4 * hidden;
  using layer_norm_epsilon = std::ratio<1, 100'000>;
};
inline constexpr int batch = 16;  // pieces of text of a step

}  // namespace gpt
