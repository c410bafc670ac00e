// Distances of results from what they should be.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

// Keeps the larger distance. A NaN is the furthest of all: std::max would drop it.
inline void keep_furthest(double& furthest, double distance) {
  if (!(distance <= furthest)) furthest = std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

// The largest distance of two elements, relative where the wanted one is above 1. Equal infinities and two NaNs agree.
inline double distance(std::vector<double> const& told, std::vector<double> const& wanted) {
  if (told.size() != wanted.size()) return std::numeric_limits<double>::infinity();
  double furthest = 0;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (told[i] == wanted[i] || (std::isnan(told[i]) && std::isnan(wanted[i]))) continue;
    keep_furthest(furthest, std::abs(told[i] - wanted[i]) / std::max(1.0, std::abs(wanted[i])));
  }
  return furthest;
}
