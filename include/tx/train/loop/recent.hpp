// A number that jumps from step to step, smoothed for the eye.
#pragma once

#include <tx/train/loop/saved.hpp>

#include <algorithm>

namespace tx::train {

// The mean of the first steps; later steps count less the longer ago they are, about 20 of them together.
class recent {
 public:
  void add(double value, std::int64_t step) {
    double const keep = known_ ? std::max(0.0, std::min(0.95, 1 - 1.0 / static_cast<double>(step))) : 0;
    value_ = keep * value_ + (1 - keep) * value;
    known_ = true;
  }
  double value() const { return value_; }

  void save(to_save& out, std::string const& name) const {
    if (known_) out.put(name, value_);
  }
  void restore(saved const& in, std::string const& name) {
    known_ = in.has(name);
    value_ = in.value(name, 0.0);
  }

 private:
  double value_ = 0;
  bool known_ = false;
};

}  // namespace tx::train
