// Draws the next byte from a model's logits.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>

namespace gpt {

class sampler {
 public:
  // temperature: logits are divided by it; 0: always the likeliest byte. top_p: of the likeliest bytes as many as have that share together
  // (Holtzman et al., The Curious Case of Neural Text Degeneration, arXiv 1904.09751).
  sampler(double temperature, double top_p, std::uint64_t seed) : temperature_(temperature), top_p_(top_p), random_(seed) {}

  int next(std::span<float const> logits) {
    if (temperature_ == 0) return static_cast<int>(std::ranges::max_element(logits) - logits.begin());
    std::array<int, 256> order{};
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int a, int b) { return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)]; });
    double const uniform = static_cast<double>(random_() >> 11) * 0x1p-53;  // [0, 1); the same on every machine
    auto const weight = [&](int byte) {
      return std::exp((static_cast<double>(logits[static_cast<std::size_t>(byte)]) - static_cast<double>(logits[static_cast<std::size_t>(order[0])])) / temperature_);
    };
    double all = 0, kept = 0;
    for (int byte : order) all += weight(byte);
    std::size_t count = 0;
    while (count < order.size() && (count == 0 || kept < top_p_ * all)) kept += weight(order[count++]);
    double left = uniform * kept;
    for (std::size_t k = 0; k + 1 < count; ++k)
      if ((left -= weight(order[k])) < 0) return order[k];
    return order[count - 1];
  }

 private:
  double temperature_, top_p_;
  std::mt19937_64 random_;
};

}  // namespace gpt
