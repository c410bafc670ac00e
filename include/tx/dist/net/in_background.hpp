// in_background<Communicator>: a communicator of hosts whose collectives go on, in a thread of their own, while the rank computes, where its program has `overlapped` (overlap.hpp).
//
//   tx::dist::sockets connections(tx::dist::launched());
//   tx::dist::ranks hosts(connections);
//   tx::dist::in_background all(hosts);
//   tx::executor<step, tx::distributed<tx::cpu, decltype(all)>> run{tx::seed(0), all};
//
// The thread wants a processor, or part of one: give computing one less in run_options::threads. Over MPI, whose waiting turns in circles, nothing is gained on as many processors as there are
// ranks. What fails meanwhile is thrown by what is asked for next. A rank that gives up while collectives are on their way tells the others so.
#pragma once

#include <tx/dist/communicator.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace tx::dist {

namespace detail {

// Does one thing after the other.
class background {
 public:
  background() : thread_([this] { run(); }) {}
  background(background const&) = delete;
  background& operator=(background const&) = delete;
  ~background() {
    {
      std::scoped_lock const lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void begin(int number, std::function<void()> what) {
    {
      std::scoped_lock const lock(mutex_);
      rethrow();
      waiting_.push_back({number, std::move(what)});
      ++open_;
    }
    changed_.notify_all();
  }
  // Until what was begun under that number is done, or all of it; what was begun first is done first.
  void finish(int number) {
    wait([&] {
      if (runs_ == number) return false;
      for (job const& j : waiting_)
        if (j.number == number) return false;
      return true;
    });
  }
  void finish_all() {
    wait([&] { return open_ == 0; });
  }
  bool idle() {
    std::scoped_lock const lock(mutex_);
    return open_ == 0;
  }
  // Until nothing touches any memory, whatever has failed.
  void wait_until_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_ == 0; });
  }
  double seconds_waited() const { return waited_.count(); }

 private:
  static constexpr int none = -1;
  struct job {
    int number;
    std::function<void()> what;
  };

  template <class Done>
  void wait(Done const& done) {
    auto const since = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ != nullptr || done(); });
    waited_ += std::chrono::steady_clock::now() - since;
    rethrow();
  }
  void rethrow() {
    if (failed_ != nullptr) std::rethrow_exception(failed_);
  }
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      job const next = std::move(waiting_.front());
      waiting_.pop_front();
      runs_ = next.number;
      bool const skipped = failed_ != nullptr;  // ranks do not meet any more
      lock.unlock();
      std::exception_ptr failure{};
      try {
        if (!skipped) next.what();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure != nullptr) failed_ = failure;
      runs_ = none;
      --open_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<job> waiting_{};
  std::exception_ptr failed_{};
  std::chrono::duration<double> waited_{};
  int open_ = 0;     // jobs that are not done
  int runs_ = none;  // the number of the one at hand
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace detail

template <communicator Communicator>
class in_background {
 public:
  explicit in_background(Communicator& of) : of_(of), thread_(std::make_shared<detail::background>()), owner_(true) {}
  in_background(in_background const&) = delete;
  in_background& operator=(in_background const&) = delete;
  ~in_background() {
    if (owner_) abandon();
  }

  int rank() const { return of_.rank(); }
  int size() const { return of_.size(); }
  std::shared_ptr<in_background> subset(rank_subset const& those) {
    struct with_subset {
      decltype(std::declval<Communicator&>().subset(those)) some;
      in_background in_thread;
      with_subset(decltype(some) of, std::shared_ptr<detail::background> const& thread) : some(std::move(of)), in_thread(*some, thread) {}
    };
    thread_->finish_all();
    auto const some = std::make_shared<with_subset>(of_.subset(those), thread_);
    return {some, &some->in_thread};
  }

  template <class F>
  void begin(int number, F const& f) {
    thread_->begin(number, [f, this] { f(of_); });
  }
  void finish(int number) { thread_->finish(number); }
  // A run has failed: what is on its way ends, on the other ranks with an error, before the memory of the run is given back.
  void abandon() {
    if (thread_->idle()) return;
    if constexpr (requires { of_.give_up(std::string()); }) of_.give_up("a run failed while collectives were on their way");
    thread_->wait_until_idle();
  }

  template <class T>
  void all_reduce(std::span<T const> from, std::span<T> to) {
    alone().all_reduce(from, to);
  }
  template <class T>
  void reduce_scatter(std::span<T const> from, std::span<T> to) {
    alone().reduce_scatter(from, to);
  }
  template <class T>
  void all_gather(std::span<T const> from, std::span<T> to) {
    alone().all_gather(from, to);
  }
  template <class T>
  void all_to_all(std::span<T const> from, std::span<T> to) {
    alone().all_to_all(from, to);
  }
  template <class T>
  void swap_with(std::span<T const> from, std::span<T> to, int other) {
    alone().swap_with(from, to, other);
  }
  template <class T>
  void broadcast(std::span<T> x, int root) {
    alone().broadcast(x, root);
  }
  void barrier() { alone().barrier(); }

  // Seconds that collectives have taken so far, and those of them in which nothing was computed.
  double seconds() const
    requires requires(Communicator const& c) { c.seconds(); }
  {
    return of_.seconds();
  }
  double seconds_waited() const { return thread_->seconds_waited(); }
  void check()
    requires requires(Communicator& c) { c.check(); }
  {
    alone().check();
  }

 private:
  in_background(Communicator& of, std::shared_ptr<detail::background> thread) : of_(of), thread_(std::move(thread)) {}

  // Once nothing is on its way.
  Communicator& alone() {
    thread_->finish_all();
    return of_;
  }

  Communicator& of_;
  std::shared_ptr<detail::background> thread_;
  bool owner_ = false;
};

}  // namespace tx::dist
