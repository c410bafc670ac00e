// Which device threads use: a runtime knows of each thread by itself, and tx has one for all of them.
#include <tx/backends/cuda/target.hpp>
#include <tx/backends/device/backend.hpp>
#include <tx/backends/device/on_stream.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <cstdlib>
#include <thread>

namespace {

thread_local int current = 0;  // as runtimes have it: the first, until the thread says another one
std::atomic<int> streams_of[2]{}, allocations_of[2]{};

struct driver_of_two {
  static constexpr char const* name = "two";
  static constexpr char const *vendor = "made-up", *lacking = "make one";
  static constexpr auto units = tx::backends::device::matrix_units::of_warps;
  using status = int;
  using stream = int;
  using event = int;
  static constexpr status success = 0;
  static char const* text(status) { return "failed"; }
  static status count_devices(int* count) { return *count = 2, success; }
  static status use(int number) { return current = number, success; }
  static status make(stream* s) { return *s = ++streams_of[current], success; }
  static status wait(stream) { return success; }
  static status clear(void*, std::size_t, stream) { return success; }
  static status allocate(void** p, std::size_t bytes) {
    ++allocations_of[current];
    return *p = std::malloc(bytes), success;
  }
  static void release(void* p) { std::free(p); }
};
using two = tx::backends::device::backend<tx::backends::device::on_stream<driver_of_two>, tx::cuda_target>;

struct driver_of_none : driver_of_two {
  static char const* text(status) { return "the driver is too old"; }
  static status count_devices(int*) { return 1; }
};
using none = tx::backends::device::backend<tx::backends::device::on_stream<driver_of_none>, tx::cuda_target>;
struct driver_that_finds_none : driver_of_two {
  static status count_devices(int* count) { return *count = 0, success; }
};
using finds_none = tx::backends::device::backend<tx::backends::device::on_stream<driver_that_finds_none>, tx::cuda_target>;

}  // namespace

TEST_CASE("a machine without a usable device is told of with the driver's reason") {
  CHECK_FALSE(none::available());
  CHECK_THROWS_WITH(none::use_device(0), "two: this machine has no usable made-up device (the driver is too old). FIX: compute on the CPU, or make one");
  CHECK_FALSE(finds_none::available());
  CHECK_THROWS_WITH(finds_none::check_machine(), "two: this machine has no usable made-up device (there is none). FIX: compute on the CPU, or make one");
}

TEST_CASE("a device that is chosen is that of all threads, also of the one that asks first") {
  two::use_device(3);  // counted on
  CHECK(current == 1);
  std::thread([] {
    std::byte* const p = two::allocate(8);
    two::clear(p, 8);
    two::release(p, 8);
    CHECK(current == 1);
  }).join();
  two::release(two::allocate(8), 8);
  CHECK(allocations_of[0] == 0);
  CHECK(allocations_of[1] == 2);
  CHECK(streams_of[0] == 0);
  CHECK(streams_of[1] == 1);
}
