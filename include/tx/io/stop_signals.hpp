// Ctrl-C and SIGTERM as a flag that a loop looks at, to end in order: save, then exit with 128 + the signal.
#pragma once

#include <signal.h>

#include <csignal>
#include <cstddef>

namespace tx::io {

namespace detail {
// What a handler may write (ISO C++, [support.signal]); the only state, shared by all stop_signals of a process.
inline volatile std::sig_atomic_t stop_signal = 0;
inline void note_stop_signal(int number) { stop_signal = number; }
}  // namespace detail

// While one lives, the first SIGINT or SIGTERM is noted and a second of its kind ends the process as ever. A signal
// that the process was started to ignore (by nohup, or in the background) stays ignored. One at a time; the destructor
// brings back what handled the signals before.
class stop_signals {
 public:
  stop_signals() {
    detail::stop_signal = 0;
    for (std::size_t i = 0; i < count; ++i) {
      ::sigaction(numbers[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction action {};
      action.sa_handler = detail::note_stop_signal;
      action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
      ::sigemptyset(&action.sa_mask);
      ::sigaction(numbers[i], &action, nullptr);
    }
  }
  stop_signals(stop_signals const&) = delete;
  stop_signals& operator=(stop_signals const&) = delete;
  ~stop_signals() {
    for (std::size_t i = 0; i < count; ++i) ::sigaction(numbers[i], &before_[i], nullptr);
  }

  // The signal's number; 0 as long as there was none.
  int received() const { return detail::stop_signal; }

 private:
  static constexpr std::size_t count = 2;
  static constexpr int numbers[count] = {SIGINT, SIGTERM};
  struct sigaction before_[count] {};
};

}  // namespace tx::io
