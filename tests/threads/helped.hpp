// Whether helpers do all shares but the one that holds up the caller.
#pragma once

#include <tx/backends/cpu/parallel.hpp>

#include <atomic>
#include <thread>

inline constexpr std::int64_t much = 1 << 30;  // elements: worth threads

inline bool helped() {
  auto const caller = std::this_thread::get_id();
  for (int attempt = 0; attempt < 10; ++attempt) {  // helpers may be late, but not always
    std::atomic<int> left{tx::backends::cpu::shares - 1};
    tx::backends::cpu::for_shares(2, much, [&](int) {
      if (std::this_thread::get_id() != caller) {
        --left;
        return;
      }
      std::int64_t const until = tx::backends::cpu::nanoseconds_now() + 300'000'000;
      while (left > 0 && tx::backends::cpu::nanoseconds_now() < until) std::this_thread::yield();
    });
    if (left <= 0) return true;  // all of them, where they are faster than the caller
  }
  return false;
}
