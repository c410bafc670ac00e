// How long a run goes on: so many steps, epochs or seconds; and how much of its way lies behind it.
#pragma once

#include <tx/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace tx::train {

// Where there are both steps and seconds, what comes first.
struct length {
  std::int64_t steps = 0;
  double seconds = 0;
  // With seconds: how many steps they are is found out from the first ones and stays so, in a resumed run too. Otherwise the clock ends it.
  bool fixed = false;
};

// So many epochs over `items`, in batches that are whole, of which an epoch has items / batch, rounded down; at least one step.
inline length in_epochs(double epochs, std::size_t items, std::size_t batch) {
  if (batch == 0 || !(epochs > 0)) throw value_error("in_epochs: " + std::to_string(epochs) + " epochs in batches of " + std::to_string(batch) + ". FIX: more than none of both");
  return {.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(epochs * static_cast<double>(std::max<std::size_t>(1, items / batch))))};
}

class pace {
 public:
  static constexpr std::int64_t sample = 20;       // steps that tell how long one takes
  static constexpr std::int64_t fewest_fixed = 50;  // steps, however short the time

  explicit pace(length l) : length_(l), unmeasured_(l.seconds > 0) {
    if (l.steps <= 0 && l.seconds <= 0) throw value_error("length: a run of nothing. FIX: steps or seconds above 0");
  }

  // 0 to 1 after `done` steps and so many seconds; from 1 on it is over.
  double share(std::int64_t done, double seconds) const {
    double const by_steps = length_.steps > 0 ? static_cast<double>(done) / static_cast<double>(length_.steps) : 0;
    return by_clock() ? std::max(by_steps, seconds / length_.seconds) : by_steps;
  }

  // Looks how long the first steps took. Returns whether steps() is another now.
  bool measure(std::int64_t done, double seconds) {
    if (!unmeasured_ || done < sample) return false;
    unmeasured_ = false;
    auto const in_time = static_cast<std::int64_t>(std::min(1e15, static_cast<double>(done) * length_.seconds / std::max(seconds, 1e-9)));
    auto const fewer = [&](std::int64_t n) { return length_.steps > 0 ? std::min(length_.steps, n) : n; };
    if (length_.fixed)
      expected_ = length_.steps = fewer(std::max({in_time, fewest_fixed, done}));
    else
      expected_ = fewer(in_time);
    return true;
  }

  // As many as there will be, or at most, as far as that is known; 0: nothing is.
  std::int64_t steps() const { return expected_ > 0 ? expected_ : unmeasured_ && by_clock() ? 0 : length_.steps; }
  // The same, of a run that goes on: what was found out from a time stays so. A number of steps is what it is given now, so a run that has ended may
  // be made longer. 0: not found out yet, or the clock ends it.
  std::int64_t fixed_steps() const { return by_clock() || unmeasured_ ? 0 : length_.steps; }
  void restore(std::int64_t fixed_steps) {
    if (fixed_steps <= 0 || length_.seconds <= 0) return;
    length_.steps = fixed_steps;
    if (length_.fixed) unmeasured_ = false;
  }
  bool by_clock() const { return length_.seconds > 0 && !length_.fixed; }

 private:
  length length_;
  bool unmeasured_;
  std::int64_t expected_ = 0;
};

}  // namespace tx::train
