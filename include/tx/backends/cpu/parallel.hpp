// Shares of work on the threads of a program: always 16 (shares.hpp), which threads take from share_claims.hpp. Which thread runs a share changes nothing in
// the result.
#pragma once

#include <tx/backends/cpu/pool.hpp>

namespace tx::backends::cpu {

// Below this many elements, waking threads costs more than they save. Tests set it to 1, so that small models use threads too.
#if defined(TX_WORTH_THREADS)
inline constexpr std::int64_t worth_threads = TX_WORTH_THREADS;
#else
inline constexpr std::int64_t worth_threads = 16384;
#endif

// body(mine), on each thread that takes part, does shares mine.first ... mine.end - 1 and then goes on while mine.next(): what it has
// for itself, such as what it packs, serves all that it takes. Shares are taken `together` at a time where as many are left. One
// thread alone has them all at once. An exception in a body is for the caller where there is one thread, else the end of the program.
template <class F>
void for_claims(int threads, std::int64_t elements, int together, F const& body) {
  if (threads > 1 && elements >= worth_threads) {
    constexpr work_slot::body call = [](void const* what, claims& mine) noexcept { (*static_cast<F const*>(what))(mine); };
    thread_pool::shared().run(call, &body, threads, together);
    return;
  }
  claims all;
  body(all);
}

// The same, share by share.
template <class F>
void for_shares(int threads, std::int64_t elements, F const& share) {
  for_claims(threads, elements, 1, [&](claims& mine) __attribute__((noinline)) {
    do {
      for (int s = mine.first; s < mine.end; ++s) share(s);
    } while (mine.next());
  });
}

}  // namespace tx::backends::cpu
