// When each kernel of a run began and how long it took, if the executor was told to say so.
#pragma once

#include <tx/run/observer.hpp>

#include <time.h>

#include <vector>

namespace tx::exec {

struct kernel_event {
  call const* of = nullptr;
  double start = 0, seconds = 0;  // by the monotonic clock
  std::int64_t iteration = 0;     // of the enclosing repeat
  std::int64_t rows = 0;          // of all matrices that ran: a band of them
  run_extents extents{};
};

class kernel_log final : public observer {
 public:
  std::vector<kernel_event> events;  // of all runs, one after the other
  std::int64_t runs = 0;             // that have begun; the parts of a batch are one

  void before_run(frame const&) override { ++runs; }
  void before_kernel(frame const&, call const&) override { start_ = seconds(); }
  void after_kernel(frame const& f, call const& c) override {
    double const end = seconds();
    call now = c;
    resolve(now, f.extents);
    events.push_back({&c, start_, end - start_, f.iteration, f.end_row(now) - f.first_row(now), f.extents});
  }

 private:
  static double seconds() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  double start_ = 0;
};

}  // namespace tx::exec
