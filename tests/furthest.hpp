// Distances of results from what they should be.
#pragma once

#include <cmath>
#include <limits>

// Keeps the larger distance. A NaN is the furthest of all: std::max would drop it.
inline void keep_furthest(double& furthest, double distance) {
  if (!(distance <= furthest)) furthest = std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}
