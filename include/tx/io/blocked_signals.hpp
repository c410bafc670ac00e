// For threads beside those of the program, which inherit what is blocked when they are made.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <initializer_list>

namespace tx::io {

// While one lives, its thread, and threads that it makes, for good, are not interrupted by signals: those are the program's.
class blocked_signals {
 public:
  blocked_signals() {
    sigset_t others;
    ::sigfillset(&others);
    // Those that a fault of the thread itself raises go to whoever handles them.
    for (int const fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF}) ::sigdelset(&others, fault);
    ::pthread_sigmask(SIG_SETMASK, &others, &before_);
  }
  blocked_signals(blocked_signals const&) = delete;
  blocked_signals& operator=(blocked_signals const&) = delete;
  ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace tx::io
