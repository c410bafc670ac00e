// A device of the kernels: tasks start on one stream of a driver, in order. Driver: cuda/driver.hpp, hip/driver.hpp.
#pragma once

#include <tx/backends/cuda/target.hpp>
#include <tx/backends/cuda/vocabulary.hpp>
#include <tx/core/error.hpp>

#include <string>
#include <type_traits>

namespace tx::backends::cuda {

template <class Driver>
struct on_stream {
  using driver = Driver;
  using stream_type = typename Driver::stream;
  static constexpr bool matrix_units = Driver::matrix_units;

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

  // All work of the process on the device, in order.
  static stream_type stream() {
    static stream_type const one = [] {
      stream_type s{};
      check(Driver::make(&s), "a stream could not be made");
      return s;
    }();
    return one;
  }

  static void check(typename Driver::status status, char const* what) {
    if (status != Driver::success) throw error(std::string(Driver::name) + ": " + what + ": " + Driver::text(status));
  }
};

}  // namespace tx::backends::cuda
