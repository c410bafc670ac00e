// The compiled model as applications see it: no template and no header of tx.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace own {

class spiral_model {
 public:
  static int const batch;  // points that a call takes

  explicit spiral_model(std::uint64_t seed);
  ~spiral_model();

  // One step. points: [batch, 2]; labels: [batch]. Returns the loss. Throws tx::error where a length is another.
  float train(std::span<float const> points, std::span<std::int32_t const> labels);
  // The share of points, [batch, 2], that are given their label.
  double accuracy(std::span<float const> points, std::span<std::int32_t const> labels);

 private:
  struct programs;
  std::unique_ptr<programs> programs_;
};

}  // namespace own
