// area_under_curve(scores, labels): how well scores tell positive examples from negative ones, a measure to validate by.
#pragma once

#include <tx/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace tx::train {

// The share of (positive, negative) pairs where the positive one has the higher score, ties counting half; labels from 0.5 on are positive. NaN where a
// score is. Throws value_error unless there are both, and a label for each score.
inline double area_under_curve(std::span<float const> scores, std::span<float const> labels) {
  if (scores.size() != labels.size())
    throw value_error("AUC of " + std::to_string(scores.size()) + " scores with " + std::to_string(labels.size()) + " labels. FIX: a label for each score");
  if (std::ranges::any_of(scores, [](float s) { return std::isnan(s); })) return std::numeric_limits<double>::quiet_NaN();
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return scores[a] < scores[b]; });
  double above = 0;
  double positive = 0, negative = 0;
  for (std::size_t i = 0; i < order.size();) {  // runs of equal scores
    double run_positive = 0, run_negative = 0;
    float const level = scores[order[i]];
    for (; i < order.size() && !(scores[order[i]] > level); ++i) (labels[order[i]] >= 0.5f ? run_positive : run_negative) += 1;
    above += run_positive * (negative + 0.5 * run_negative);
    positive += run_positive;
    negative += run_negative;
  }
  if (positive == 0 || negative == 0) throw value_error("AUC needs positive examples (label 0.5 or more) and negative ones. FIX: data with both");
  return above / (positive * negative);
}

}  // namespace tx::train
