// The threads of a process that help whoever calls kernels. They are made when work first wants them, sleep when there is none, and
// are shared by all executors. The caller always takes part, and in the end waits only for shares that a helper has taken: where the
// machine is busy and no helper comes, it does all of them itself.
#pragma once

#include <tx/backends/cpu/share_claims.hpp>
#include <tx/backends/cpu/turns.hpp>

#include <pthread.h>
#include <signal.h>

#include <thread>

namespace tx::backends::cpu {

class thread_pool {
 public:
  // Makes the helpers of so many threads, unless there are as many.
  void prepare(int threads) {
    if (threads > shares) threads = shares;
    if (asked_for_.load(std::memory_order_relaxed) < threads - 1) make_helpers(threads - 1);
  }

  // Runs body(what, mine) on this thread and on up to threads - 1 others, whose claims `mine` together are all shares.
  __attribute__((noinline)) void run(work_slot::body body, void const* what, int threads, int together) {
    prepare(threads);  // in the child of a fork there are none
    if (threads > shares) threads = shares;
    int const at = take_slot();
    if (at < 0) {  // more callers than slots: this one works alone
      claims all;
      return body(what, all);
    }
    work_slot& slot = slots_[at];
    std::uint64_t const word = slot.announce(body, what, threads, together);
    std::uint64_t const open = std::uint64_t{1} << (at + slots);
    int const callers = callers_in(state_.fetch_or(open, std::memory_order_seq_cst));
    wake(threads - callers - helping_.load(std::memory_order_relaxed));
    claims mine(slot, word, 0, threads, together);
    if (mine.next()) body(what, mine);
    wait_for_helpers(slot, static_cast<std::uint32_t>(shares - mine.taken()));
    state_.fetch_and(~(open | open >> slots), std::memory_order_release);
  }

 private:
  static constexpr int slots = 32;  // works at the same time
  enum class found { nothing, crowd, work };
  // How long to look before sleeping: a helper for the next work, a caller for the last shares of its own.
  static constexpr std::int64_t look_for_work = 100'000, look_for_end = 50'000;

  // The lowest slot that no caller has; -1: there is none.
  int take_slot() {
    std::uint64_t now = state_.load(std::memory_order_relaxed);
    for (;;) {
      int const at = std::countr_one(static_cast<std::uint32_t>(now));
      if (at == slots) return -1;
      if (state_.compare_exchange_weak(now, now | std::uint64_t{1} << at, std::memory_order_acquire, std::memory_order_relaxed)) return at;
    }
  }

  static int callers_in(std::uint64_t state) { return std::popcount(static_cast<std::uint32_t>(state)); }

  // A helper counts itself among the sleepers before it looks for the last time, and a caller announces before it counts them: one
  // of the two sees the other.
  void wake(int wanted) {
    int const sleeping = sleepers_.load(std::memory_order_seq_cst);
    if (sleeping == 0 || wanted <= 0) return;
    calls_.fetch_add(1, std::memory_order_release);
    if (wanted >= sleeping) return calls_.notify_all();
    for (int i = 0; i < wanted; ++i) calls_.notify_one();
  }

  static void wait_for_helpers(work_slot& slot, std::uint32_t taken) {
    auto const all_done = [&] { return (slot.done.load(std::memory_order_acquire) & ~work_slot::asleep) == taken; };
    if (all_done() || look_for(look_for_end, all_done)) return;
    std::uint32_t now = slot.done.fetch_or(work_slot::asleep, std::memory_order_acquire) | work_slot::asleep;
    while (now != (taken | work_slot::asleep)) {
      slot.done.wait(now, std::memory_order_acquire);
      now = slot.done.load(std::memory_order_acquire);
    }
  }

  // Helper number `me` takes part in some work, if there is any for it.
  found help(int me, turns& turn) {
    std::uint64_t const state = state_.load(std::memory_order_seq_cst);
    found best = found::nothing;
    for (auto open = static_cast<std::uint32_t>(state >> slots); open != 0; open &= open - 1) {
      found const here = help(slots_[std::countr_zero(open)], me, callers_in(state), turn);
      if (here == found::work) return here;
      if (here == found::crowd) best = here;
    }
    return best;
  }
  found help(work_slot& slot, int me, int callers, turns& turn) {
    std::uint64_t const word = slot.left.load(std::memory_order_acquire);
    int const threads = slot.threads.load(std::memory_order_relaxed);
    if ((word & work_slot::all_shares) == 0 || work_slot::helpers(word) >= threads - 1) return found::nothing;
    // Callers and helpers together are no more than this work would have alone: executors share the machine.
    if (callers + helping_.load(std::memory_order_relaxed) >= threads) return found::crowd;
    work_slot::body const body = slot.run.load(std::memory_order_relaxed);
    void const* const what = slot.what.load(std::memory_order_relaxed);
    claims mine(slot, word, 1 + me % (threads - 1), threads, slot.together.load(std::memory_order_relaxed));
    std::int64_t const until = turn.begin_work();
    if (!mine.join(word, threads - 1, until)) return found::nothing;
    int const caller = slot.processor.load(std::memory_order_relaxed);
    helping_.fetch_add(1, std::memory_order_relaxed);
    body(what, mine);
    if (until != 0) mine.leave();
    helping_.fetch_sub(1, std::memory_order_relaxed);
    auto const finished = static_cast<std::uint32_t>(mine.taken());
    if (slot.done.fetch_add(finished, std::memory_order_acq_rel) & work_slot::asleep) slot.done.notify_one();
    turn.worked(caller);
    return found::work;
  }

  void help_forever(int me) {
    turns turn;
    turn.begin();
    for (;;) {
      found last = found::nothing;
      look_for(look_for_work, [&] { return (last = help(me, turn)) != found::nothing; });
      if (last == found::work) continue;
      std::uint32_t const calls = calls_.load(std::memory_order_acquire);
      sleepers_.fetch_add(1, std::memory_order_seq_cst);
      if (help(me, turn) != found::work) {
        calls_.wait(calls, std::memory_order_acquire);
        turn.begin();
      }
      sleepers_.fetch_sub(1, std::memory_order_relaxed);
    }
  }

  // Helpers are never joined and the pool is never destroyed, so that a program may end while they work. Signals are the program's.
  __attribute__((noinline)) void make_helpers(int wanted) {
    if (making_.test_and_set(std::memory_order_acquire)) return;  // another caller makes them
    sigset_t all, before;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      for (; forgotten_in_children && helpers_ < wanted; ++helpers_) std::thread([this, me = helpers_] { help_forever(me); }).detach();
    } catch (...) {  // the system has no more threads or memory for us: these must do
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (asked_for_.load(std::memory_order_relaxed) < wanted) asked_for_.store(wanted, std::memory_order_relaxed);
    making_.clear(std::memory_order_release);
  }

  // In the child of a fork there is one thread, and no work but its own.
  void forget_helpers() {
    helpers_ = 0;
    asked_for_.store(0, std::memory_order_relaxed);
    helping_.store(0, std::memory_order_relaxed);
    sleepers_.store(0, std::memory_order_relaxed);
    state_.store(0, std::memory_order_relaxed);
    making_.clear(std::memory_order_relaxed);
  }

  work_slot slots_[slots];
  alignas(64) std::atomic<std::uint64_t> state_{0};  // which slots callers have; above those, which hold work
  alignas(64) std::atomic<int> helping_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<std::uint32_t> calls_{0};              // grows when sleepers are to look again
  alignas(64) std::atomic<int> asked_for_{0};        // helpers, by whoever wanted most
  int helpers_ = 0;                                  // that there are
  std::atomic_flag making_{};
  static bool const forgotten_in_children;  // set when the program starts, so that no fork comes in between

 public:
  static thread_pool& shared();
};

namespace detail {
inline constinit thread_pool pool_of_process{};
}  // namespace detail
inline thread_pool& thread_pool::shared() { return detail::pool_of_process; }
inline bool const thread_pool::forgotten_in_children = pthread_atfork(nullptr, nullptr, [] { shared().forget_helpers(); }) == 0;

}  // namespace tx::backends::cpu
