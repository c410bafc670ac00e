// Data of this project's own: points on two spirals that wind around each other. Which of the two is a point on?
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace own {

struct points {
  std::vector<float> x;             // [count, 2]
  std::vector<std::int32_t> label;  // [count], 0 or 1
};

points draw_points(int count, std::mt19937& random);

}  // namespace own
