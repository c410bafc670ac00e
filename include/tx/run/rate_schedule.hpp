// Learning-rate schedules: the share of the rate at each step, set at run time.
//
//   run.settings.schedule = {tx::decay_shape::cosine, 1'000, 100'000};
//   run.settings.schedule = {.shape = tx::decay_shape::stairs, .every = 30, .factor = 0.1};
#pragma once

#include <tx/core/error.hpp>

#include <cmath>
#include <cstdint>
#include <string>

namespace tx {

// The rest of a schedule, after the warm-up. `done` goes from 0 to 1 between warmup and total; from there on the share
// is `end`.
enum class decay_shape : std::uint8_t {
  constant,
  linear,      // 1 - done
  cosine,      // half a period (Loshchilov and Hutter, SGDR, arXiv 1608.03983, without restarts)
  polynomial,  // (1 - done)^power
  one_cycle,   // cosines up from `start` and down (Smith and Topin, arXiv 1708.07120, in two phases as PyTorch has it)
  stairs       // times `factor` after every `every` steps
};

// The share of the learning rate at a step, counted from 0. Errors: value_error where the shape lacks a number that it
// needs.
struct schedule {
  decay_shape shape = decay_shape::constant;
  std::int64_t warmup = 0;  // steps until the full rate, linear; one_cycle: its way up
  std::int64_t total =
      0;  // steps until `end`; 0 for constant and stairs. Not beyond warmup: nothing to decay over, the full rate
  double end = 0;          // share at the end
  double power = 1;        // polynomial
  double start = 0.04;     // one_cycle: share in the first step
  std::int64_t every = 0;  // stairs: steps of each
  double factor = 0.1;     // stairs: what a share is of the one before

  friend bool operator==(schedule const&, schedule const&) = default;

  double at(std::int64_t step) const {
    if (shape == decay_shape::one_cycle) return cycle(step);
    if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup);
    if (shape == decay_shape::stairs) return stair(step - warmup);
    if (shape == decay_shape::constant || total <= warmup) return 1.0;
    double const done = static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
    if (done >= 1) return end;
    switch (shape) {
      case decay_shape::cosine: return between(1, end, done);
      case decay_shape::polynomial: return end + (1 - end) * std::pow(1 - done, power);
      default: return end + (1 - end) * (1 - done);
    }
  }

 private:
  // Along half a cosine.
  static double between(double from, double to, double done) {
    return to + (from - to) * 0.5 * (1 + std::cos(3.141592653589793 * done));
  }

  // From `start` in step 0 to 1 in the last step of the warm-up, to `end` in the last of all.
  double cycle(std::int64_t step) const {
    if (warmup < 2 || total <= warmup)
      throw value_error("schedule: one_cycle over " + std::to_string(total) + " steps, " + std::to_string(warmup) +
                        " of them on the way up. FIX: set warmup to at least 2 and total above it");
    if (step >= total - 1) return end;
    std::int64_t const top = warmup - 1;
    if (step < top) return between(start, 1, static_cast<double>(step) / static_cast<double>(top));
    return between(1, end, static_cast<double>(step - top) / static_cast<double>(total - warmup));
  }

  double stair(std::int64_t step) const {
    if (every < 1)
      throw value_error("schedule: stairs of " + std::to_string(every) + " steps. FIX: set every to at least 1");
    return std::pow(factor, static_cast<double>(step / every));
  }
};

}  // namespace tx
