// Stands in for a full disk: while it lives, no file of this process grows past a size.
#pragma once

#include <sys/resource.h>

#include <csignal>

class size_limit {
 public:
  explicit size_limit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit const limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  size_limit(size_limit const&) = delete;
  size_limit& operator=(size_limit const&) = delete;
  ~size_limit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit old_{};
};
