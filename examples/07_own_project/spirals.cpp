#include "spirals.hpp"

#include <cmath>

namespace own {

points draw_points(int count, std::mt19937& random) {
  std::uniform_real_distribution<float> along(0.1f, 1.0f);
  points p;
  for (int i = 0; i < count; ++i) {
    int const spiral = static_cast<int>(random() % 2);
    float const radius = along(random);
    float const angle = 4 * radius + (spiral == 0 ? 0.0f : 3.14159265f);
    p.x.push_back(radius * std::cos(angle));
    p.x.push_back(radius * std::sin(angle));
    p.label.push_back(spiral);
  }
  return p;
}

}  // namespace own
