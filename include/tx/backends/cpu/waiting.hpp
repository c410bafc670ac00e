// How threads wait for each other: a look now and then for some microseconds, as the next kernel mostly comes within them, then sleep.
#pragma once

#include <time.h>

#include <cstdint>

namespace tx::backends::cpu {

inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

inline std::int64_t nanoseconds_now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

// Looks until there() or for so long; the last answer. The clock goes on while the thread is kept from running, so one that others
// have kept waiting looks once more and no longer.
template <class F>
bool look_for(std::int64_t nanoseconds, F const& there) {
  for (int i = 0; i < 64; ++i) {
    if (there()) return true;
    pause_briefly();
  }
  std::int64_t const until = nanoseconds_now() + nanoseconds;
  do {
    for (int i = 0; i < 16; ++i) {
      if (there()) return true;
      pause_briefly();
    }
  } while (nanoseconds_now() < until);
  return there();
}

}  // namespace tx::backends::cpu
