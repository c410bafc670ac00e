// One piece of work at a time on a thread of its own, beside the thread that asks for it.
#pragma once

#include <tx/io/blocked_signals.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <utility>

namespace tx::io {

// The thread lives as long as the work does: there is none between two pieces. Signals are the program's, none is handled here.
// All members are for the thread that made it.
class background_work {
 public:
  // `what` the work is, for a message about one that has failed when nobody is left to be told.
  explicit background_work(std::string what) : what_(std::move(what)) {}
  background_work(background_work const&) = delete;
  background_work& operator=(background_work const&) = delete;
  // Waits. As a destructor cannot throw, what the work has thrown and nobody has asked for goes to standard error.
  ~background_work() {
    auto const error = end();
    if (!error) return;
    std::string reason = "an exception of an unknown kind";
    try {
      std::rethrow_exception(error);
    } catch (std::exception const& e) {
      reason = e.what();
    } catch (...) {
    }
    std::fprintf(stderr, "%s failed: %s\n", what_.c_str(), reason.c_str());
  }

  // Only where no work is under way and end() has told of the last. Where the system has no thread left the work is done at once.
  void start(std::function<void()> work) {
    work_ = std::move(work);
    owner_ = ::getpid();
    {
      blocked_signals const while_it_begins;
      running_ = ::pthread_create(&thread_, nullptr, &background_work::run, this) == 0;
    }
    if (!running_) run(this);
  }

  // Waits until the work is done, and returns what it has thrown, once; nothing if there was no work.
  std::exception_ptr end() noexcept {
    // In the child of a fork there is no such thread: the work is the parent's, and so is what comes of it.
    bool const own = owner_ == ::getpid();
    if (running_ && own) ::pthread_join(thread_, nullptr);
    running_ = false;
    failed_.store(false, std::memory_order_relaxed);
    auto error = std::exchange(error_, nullptr);
    return own ? error : nullptr;
  }

  // Has it ended with an exception, of which end() will tell? Costs nothing while it is under way.
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }

 private:
  static void* run(void* self) {
    auto& mine = *static_cast<background_work*>(self);
    try {
      mine.work_();
    } catch (...) {
      mine.error_ = std::current_exception();
      mine.failed_.store(true, std::memory_order_release);
    }
    return nullptr;
  }

  std::string what_;
  std::function<void()> work_;
  std::exception_ptr error_;  // the thread's until it is joined
  std::atomic<bool> failed_{false};
  bool running_ = false;
  pid_t owner_ = 0;  // the process that the thread is one of
  pthread_t thread_{};
};

}  // namespace tx::io
