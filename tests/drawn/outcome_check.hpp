// Is an outcome one that a graph may have? To the precision of its types, and beyond that as far as noise leads.
#pragma once

#include "planned.hpp"

namespace drawn {

inline double tolerance(dtype type) {
  return type == dtype::f64 ? 1e-9 : type == dtype::f32 ? 1e-4 : type == dtype::bf16 ? 0.03 : type == dtype::f16 ? 0.004 : 1e-9;
}

// What other orders of sums, and numbers folded before they are rounded, may make of a program: found by running it with noise.
class outcome_check {
 public:
  explicit outcome_check(recorded const& r) : r_(r), plain_(evaluated(r.asked, r, plain_run())) {
    for (tx::output const& o : r.asked.outputs)
      if (o.kind == tx::output_kind::result) types_.push_back(r.asked.info(o.value).type);
  }
  std::string wrong(outcome const& got) const {
    std::string const results = far(got.results, plain_.results, "result", [](outcome const& o) -> auto const& { return o.results; });
    return results.empty() ? far(got.blocks, plain_.blocks, "block", [](outcome const& o) -> auto const& { return o.blocks; }) : results;
  }

 private:
  template <class Part>
  std::string far(std::vector<values> const& got, std::vector<values> const& wanted, std::string const& of, Part const& part) const {
    if (got.size() != wanted.size()) return "another number of " + of + "s";
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      if (got[k].size() != wanted[k].size()) return of + ' ' + std::to_string(k) + " has another number of elements";
      double const near = tolerance(of == "result" ? types_[k] : r_.type);
      for (std::size_t i = 0; i < wanted[k].size(); ++i) {
        double const x = got[k][i], y = wanted[k][i];
        if (x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= near * std::max(1.0, std::abs(y))) continue;
        if (within_noise(x, y, [&](outcome const& o) { return part(o)[k][i]; })) continue;
        return of + ' ' + std::to_string(k) + ", element " + std::to_string(i) + ": " + std::to_string(x) + ", not " + std::to_string(y);
      }
    }
    return "";
  }
  template <class Element>
  bool within_noise(double x, double y, Element const& element) const {
    while (noisy_.size() < 16) {
      evaluation how = plain_run();
      how.noise = noisy_.size() % 2 == 0 ? 2 : 16;
      how.noise_seed = static_cast<std::uint32_t>(noisy_.size()) * 7919u + 17u;
      noisy_.push_back(evaluated(r_.asked, r_, how));
    }
    double spread = 0;
    for (outcome const& o : noisy_) {
      double const with_noise = element(o);
      if (std::isfinite(with_noise) != std::isfinite(y)) return true;  // noise leads to anything
      if (std::isfinite(y)) spread = std::max(spread, std::abs(with_noise - y));
    }
    return std::isfinite(y) && std::abs(x - y) <= 8 * spread;
  }

  recorded const& r_;
  outcome plain_;
  std::vector<dtype> types_;
  mutable std::vector<outcome> noisy_;
};

}  // namespace drawn
