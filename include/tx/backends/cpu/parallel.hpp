// Shares of work on the threads of a program. Which thread runs a share changes nothing in the result.
#pragma once

#include <tx/exec/plan.hpp>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace tx::backends::cpu {

// Below this many elements, waking threads costs more than they save. Tests set it to 1, so that small models use threads too.
#if defined(TX_WORTH_THREADS)
inline constexpr std::int64_t worth_threads = TX_WORTH_THREADS;
#else
inline constexpr std::int64_t worth_threads = 16384;
#endif

// range(first, end) does shares first ... end - 1. Both calls below are of one copy of it.
template <class F>
__attribute__((noinline)) void run_shares(F const& range, int first, int end) {
  range(first, end);
}

template <class F>
void for_share_ranges(int threads, std::int64_t elements, F const& range) {
#if defined(_OPENMP)
  if (threads > 1 && elements >= worth_threads) {
#pragma omp parallel num_threads(threads)
    {
      int const n = omp_get_num_threads();
      int const me = omp_get_thread_num();
      run_shares(range, exec::shares * me / n, exec::shares * (me + 1) / n);
    }
    return;
  }
#endif
  (void)threads, (void)elements;
  run_shares(range, 0, exec::shares);
}

// The same, share by share.
template <class F>
void for_shares(int threads, std::int64_t elements, F const& share) {
  for_share_ranges(threads, elements, [&](int first, int end) {
    for (int s = first; s < end; ++s) share(s);
  });
}

}  // namespace tx::backends::cpu
