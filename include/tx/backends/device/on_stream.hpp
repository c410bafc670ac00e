// A device of the kernels: tasks start on one stream of a driver, in order, but for what goes on beside them on others. Driver: cuda/driver.hpp, hip/driver.hpp.
#pragma once

#include <tx/backends/device/target.hpp>
#include <tx/backends/device/vocabulary.hpp>
#include <tx/core/error.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>

namespace tx::backends::device {

template <class Driver>
struct on_stream {
  using driver = Driver;
  using stream_type = typename Driver::stream;
  static constexpr matrix_units units = Driver::units;

  template <class Task>
  static void launch(int blocks, int threads, std::int64_t shared_bytes, typename Task::arguments const& a) {
    static_assert(std::is_trivially_copyable_v<typename Task::arguments> && sizeof(a) <= most_arguments);
    if (shared_bytes > most_shared) {
      static auto const allowed = Driver::template task<Task>::allow(shared_bytes);
      check(allowed, "a kernel needs more shared memory than this device has");
    }
    check(Driver::template task<Task>::start(blocks, threads, shared_bytes, stream(), a), "a kernel could not be started");
  }
  static void clear(std::byte* to, std::int64_t count) { check(Driver::clear(to, static_cast<std::size_t>(count), stream()), "clearing memory"); }

  static void copy(std::byte* to, std::byte const* from, std::int64_t count) { check(Driver::copy(to, from, static_cast<std::size_t>(count), stream()), "copying within the device"); }
  // Is all that was started done?
  static bool done() {
    auto const status = Driver::ask(stream());
    if (Driver::is_unfinished(status)) return false;
    check(status, "computing on the device");
    return true;
  }

  // The device that all threads of the process are to use: a runtime knows it of each thread by itself.
  static void use(int number) {
    chosen() = number;
    here();
  }
  // This thread uses it from now on, where one was chosen.
  static void here() {
    static thread_local int used = none;
    if (int const wanted = chosen(); used != wanted) {
      check(Driver::use(wanted), "a device cannot be used");
      used = wanted;
    }
  }

  // Held by who starts work: threads do so one after the other, as all of it goes to one stream, which may be captured meanwhile.
  static std::unique_lock<std::recursive_mutex> alone() {
    static std::recursive_mutex one;
    return std::unique_lock(one);
  }
  // All work of the process on the device, in order; within beside() and ahead() what goes on beside it.
  static stream_type stream() { return made(now()); }
  // What f starts goes on beside what is started afterwards, behind all that was started before. join(number): what is started from then on comes behind it.
  template <class F>
  static void beside(int number, F const& f) {
    meet(event(before_all), made(in_order), made(second));
    start_on(second, f);
    check(Driver::record(event(number), made(second)), "an event could not be recorded");
  }
  static void join(int number) { check(Driver::wait(made(in_order), event(number)), "a stream could not be told to wait"); }
  // What f starts waits for nothing that was started before; what is started from then on comes behind it.
  template <class F>
  static void ahead(F const& f) {
    start_on(third, f);
    meet(event(what_went_ahead), made(third), made(in_order));
  }

  static void check(typename Driver::status status, char const* what) {
    if (status != Driver::success) throw error(std::string(Driver::name) + ": " + what + ": " + Driver::text(status));
  }

 private:
  static constexpr int none = -1;
  static std::atomic<int>& chosen() {
    static std::atomic<int> one = none;
    return one;
  }

  using event_type = typename Driver::event;
  static constexpr int before_all = -1, what_went_ahead = -2;  // numbers of events
  enum which : int { in_order, second, third };                // streams

  static stream_type made(which w) {
    here();
    static stream_type all[3]{};
    if (all[w] == stream_type{}) check(Driver::make(&all[w]), "a stream could not be made");
    return all[w];
  }
  static which& now() {
    static which one = in_order;
    return one;
  }
  template <class F>
  static void start_on(which w, F const& f) {
    struct back {
      ~back() { now() = in_order; }
    } const restored;
    now() = w;
    f();
  }
  static event_type event(int number) {
    static std::map<int, event_type> all;
    auto const [found, fresh] = all.try_emplace(number);
    if (fresh) check(Driver::make(&found->second), "an event could not be made");
    return found->second;
  }
  // What is started on `then` from now on comes behind what was started on `before`.
  static void meet(event_type e, stream_type before, stream_type then) {
    check(Driver::record(e, before), "an event could not be recorded");
    check(Driver::wait(then, e), "a stream could not be told to wait");
  }
};

}  // namespace tx::backends::device
