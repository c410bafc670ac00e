// When something is due in a run of training.
#pragma once

#include <cstdint>

namespace tx::train {

// After every so many steps; 0: never.
struct every {
  std::int64_t steps = 0;
  bool due(std::int64_t step) const { return steps > 0 && step % steps == 0; }
};

// When a run looks how good it is. The rate falls towards the end, so `count` times lie in what follows a share of the way; and at the end.
struct validations {
  std::int64_t steps = 0;  // after every so many of them
  std::int64_t count = 0;  // so many in the rest of the run, spread evenly,
  double after = 0.5;      // after this share of it
  bool at_end = true;

  // Whether one is due after step `done` of a run, which had `share` of its way behind it before that step; `seen` counts those of `count`.
  bool due(std::int64_t done, double share, std::int64_t& seen) const {
    bool is = every{steps}.due(done);
    if (count > 0 && after < 1) {
      auto const due_by_now = static_cast<std::int64_t>((share - after) / (1 - after) * static_cast<double>(count));
      if (due_by_now > seen) {
        seen = due_by_now;
        is = true;
      }
    }
    return is;
  }
};

}  // namespace tx::train
