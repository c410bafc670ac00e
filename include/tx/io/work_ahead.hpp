// Results that threads make before they are asked for, in an order that does not depend on the threads.
#pragma once

#include <tx/io/blocked_signals.hpp>

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace tx::io {

struct work_ahead_options {
  std::size_t threads = 1;  // 0: next() does the work itself
  std::size_t ahead = 4;    // results that wait to be taken, or are being made, at most
};

//   tx::io::work_ahead<piece, ids> all([&] { return next_piece(); }, [&](piece const& p, ids& to) { to = ids_of(p); }, {.threads = 4});
//   while (auto const* result = all.next()) use(*result);
//
// Jobs are drawn one after the other, results made of them at the same time and handed out in the order of the jobs. What throws, throws from the next()
// that would have returned that result, and from each after it.
template <class Job, class Result>
class work_ahead {
 public:
  // draw: the next job, or nothing at the end. make: fills a result, in which one that is no longer wanted may lie, so that its memory serves again.
  work_ahead(std::function<std::optional<Job>()> draw, std::function<void(Job const&, Result&)> make, work_ahead_options const& o = {})
      : draw_(std::move(draw)), make_(std::move(make)), slots_(o.ahead > 0 ? o.ahead : 1) {
    blocked_signals const while_they_begin;
    try {
      while (threads_.size() < o.threads) threads_.emplace_back([this] { work(); });
    } catch (std::system_error const&) {  // with those that the system has left, or none
    } catch (...) {
      end();
      throw;
    }
  }
  work_ahead(work_ahead const&) = delete;
  work_ahead& operator=(work_ahead const&) = delete;
  // Begins no further job, and waits for those that have begun.
  ~work_ahead() { end(); }

  // Waits for the next result, which is valid until the call after this one; null at the end.
  Result* next() {
    if (threads_.empty()) return made_here();
    std::unique_lock lock(mutex_);
    slot& s = slots_[taken_ % slots_.size()];
    ready_.wait(lock, [&] { return s.ready; });
    if (s.error) std::rethrow_exception(s.error);
    if (!s.job) return nullptr;
    std::swap(result_, s.result);
    job_ = std::exchange(s.job, std::nullopt);
    s.ready = false;
    ++taken_;
    bool const half_empty = drawn_ - taken_ <= slots_.size() / 2;  // threads are not woken for each result
    lock.unlock();
    if (half_empty) room_.notify_all();
    return &result_;
  }
  // That of the result that next() has returned.
  Job const& job() const { return *job_; }
  std::size_t threads() const { return threads_.size(); }

 private:
  struct slot {
    std::optional<Job> job;  // none at the end
    Result result{};
    std::exception_ptr error;
    bool ready = false;
  };

  // Draws into the next slot, once there is one; null when there is nothing to do any more.
  slot* drawn() {
    std::scoped_lock const in_order(drawing_);
    slot* s = nullptr;
    {
      std::unique_lock lock(mutex_);
      room_.wait(lock, [&] { return stopped_ || drawn_ - taken_ < slots_.size(); });
      if (stopped_) return nullptr;
      s = &slots_[drawn_++ % slots_.size()];
    }
    try {
      s->job = draw_();
    } catch (...) {
      s->error = std::current_exception();
    }
    if (s->job) return s;
    {
      std::scoped_lock const lock(mutex_);
      s->ready = stopped_ = true;
    }
    ready_.notify_one();
    room_.notify_all();
    return nullptr;
  }

  void work() {
    while (slot* const s = drawn()) {
      try {
        make_(*s->job, s->result);
      } catch (...) {
        s->error = std::current_exception();
      }
      {
        std::scoped_lock const lock(mutex_);
        s->ready = true;
      }
      ready_.notify_one();
    }
  }

  Result* made_here() {
    if (slots_[0].error) std::rethrow_exception(slots_[0].error);
    try {
      job_ = draw_();
      if (!job_) return nullptr;
      make_(*job_, result_);
    } catch (...) {
      slots_[0].error = std::current_exception();
      throw;
    }
    return &result_;
  }

  void end() {
    {
      std::scoped_lock const lock(mutex_);
      stopped_ = true;
    }
    room_.notify_all();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
  }

  std::function<std::optional<Job>()> draw_;
  std::function<void(Job const&, Result&)> make_;
  std::mutex drawing_;  // held while a job is drawn, by the one who draws
  std::mutex mutex_;    // of what follows; a slot that is not ready is its worker's
  std::condition_variable ready_, room_;  // for the reader, and for threads
  std::vector<slot> slots_;
  std::size_t drawn_ = 0, taken_ = 0;
  bool stopped_ = false;
  Result result_{};  // the reader's, with its job
  std::optional<Job> job_;
  std::vector<std::thread> threads_;
};

}  // namespace tx::io
