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

// Both loops below call one copy of the body.
template <class F>
__attribute__((noinline)) void run_share(F const& share, int s) {
  share(s);
}

template <class F>
void for_shares(int threads, std::int64_t elements, F const& share) {
#if defined(_OPENMP)
  if (threads > 1 && elements >= worth_threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int s = 0; s < exec::shares; ++s) run_share(share, s);
    return;
  }
#endif
  (void)threads, (void)elements;
  for (int s = 0; s < exec::shares; ++s) run_share(share, s);
}

}  // namespace tx::backends::cpu
