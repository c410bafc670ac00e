#include "scores.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bert {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Pearson's correlation of doubles.
double correlation(std::vector<double> const& a, std::vector<double> const& b) {
  double const n = static_cast<double>(a.size());
  double const mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n, mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return ratio(ab, std::sqrt(aa * bb));
}

std::vector<double> ranks(std::span<float const> of) {
  std::vector<std::size_t> order(of.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return of[i]; });
  std::vector<double> out(of.size());
  for (std::size_t from = 0; from < order.size();) {
    std::size_t to = from;
    while (to < order.size() && of[order[to]] == of[order[from]]) ++to;
    for (std::size_t k = from; k < to; ++k) out[order[k]] = 0.5 * static_cast<double>(from + to - 1);
    from = to;
  }
  return out;
}

}  // namespace

label_scores::label_scores(std::size_t labels, std::span<int const> wanted, std::span<int const> told) : labels_(labels), counts_(labels * labels) {
  for (std::size_t i = 0; i < wanted.size(); ++i) counts_[static_cast<std::size_t>(wanted[i]) * labels + static_cast<std::size_t>(told[i])] += 1;
}

double label_scores::row(std::size_t wanted) const {
  return std::accumulate(counts_.begin() + static_cast<std::ptrdiff_t>(wanted * labels_), counts_.begin() + static_cast<std::ptrdiff_t>((wanted + 1) * labels_), 0.0);
}
double label_scores::column(std::size_t told) const {
  double sum = 0;
  for (std::size_t w = 0; w < labels_; ++w) sum += counts_[w * labels_ + told];
  return sum;
}
double label_scores::accuracy() const {
  double right = 0;
  for (std::size_t k = 0; k < labels_; ++k) right += counts_[k * labels_ + k];
  return ratio(right, std::accumulate(counts_.begin(), counts_.end(), 0.0));
}
double label_scores::precision(std::size_t k) const { return ratio(counts_[k * labels_ + k], column(k)); }
double label_scores::recall(std::size_t k) const { return ratio(counts_[k * labels_ + k], row(k)); }
double label_scores::f1(std::size_t k) const { return ratio(2 * counts_[k * labels_ + k], row(k) + column(k)); }
double label_scores::mean_f1() const {
  double sum = 0;
  for (std::size_t k = 0; k < labels_; ++k) sum += f1(k);
  return sum / static_cast<double>(labels_);
}
double label_scores::matthews() const {
  double const all = std::accumulate(counts_.begin(), counts_.end(), 0.0);
  double both = 0, rows = 0, columns = 0;
  for (std::size_t k = 0; k < labels_; ++k) {
    both += row(k) * column(k);
    rows += row(k) * row(k);
    columns += column(k) * column(k);
  }
  return ratio(accuracy() * all * all - both, std::sqrt((all * all - rows) * (all * all - columns)));
}
std::size_t label_scores::texts(std::size_t k) const { return static_cast<std::size_t>(row(k)); }

double pearson(std::span<float const> a, std::span<float const> b) { return correlation({a.begin(), a.end()}, {b.begin(), b.end()}); }
double spearman(std::span<float const> a, std::span<float const> b) { return correlation(ranks(a), ranks(b)); }

}  // namespace bert
