// The application: data and a loop. It compiles in a moment, whatever the model costs.
#include "spiral_model.hpp"
#include "spirals.hpp"

#include <cstdio>

int main() {
  std::mt19937 random(0);
  own::spiral_model model(0);
  float first = 0;
  float last = 0;
  for (int i = 0; i < 400; ++i) {
    auto const p = own::draw_points(own::spiral_model::batch, random);
    last = model.train(p.x, p.label);
    if (i == 0) first = last;
    if (i % 100 == 99) std::printf("step %3d  loss %.4f\n", i + 1, static_cast<double>(last));
  }
  auto const fresh = own::draw_points(own::spiral_model::batch, random);
  double const accuracy = model.accuracy(fresh.x, fresh.label);
  std::printf("%.0f%% of fresh points are given their spiral\n", 100 * accuracy);
  return last < first / 4 && accuracy > 0.9 ? 0 : 1;  // it learns, or this example is wrong
}
