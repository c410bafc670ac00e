// A backend of programs over a device that starts tasks on a stream (on_stream.hpp): memory, copies, and runs as captured graphs.
#pragma once

#include <tx/backends/device/graphs.hpp>
#include <tx/backends/device/whole_kernels.hpp>

namespace tx::backends::device {

// Target: that which its programs are planned for.
template <class Device, tx::target const& Target>
struct backend {
  static_assert(is_for<Device::units>(Target), "tx: the target plans products for other units than the device has. FIX: with_own_kernels<Device::units>, and with_library<Device::units> of that");
  static constexpr tx::target const& target = Target;
  using device = Device;
  using driver = typename Device::driver;
  template <class Signature>
  using kernel = backends::device::kernel<Device, Signature>;
  using replay = graphs<Device>;

  static std::byte* allocate(std::int64_t count) { return allocated(driver::allocate, count, "out of device memory"); }
  static void release(std::byte* p, std::int64_t) { driver::release(p); }
  // Memory of the host that the device reads and writes by the same addresses.
  static std::byte* allocate_on_host(std::int64_t count) { return allocated(driver::allocate_on_host, count, "out of memory of the host that the device may reach"); }
  static void release_on_host(std::byte* p, std::int64_t) { driver::release_on_host(p); }
  static int default_threads() { return 1; }
  static void check_machine() {
    int count = 0;
    auto const asked = driver::count_devices(&count);
    if (asked == driver::success && count > 0) return;
    std::string const reason = asked == driver::success ? "there is none" : driver::text(asked);
    throw error(std::string(driver::name) + ": this machine has no usable " + driver::vendor + " device (" + reason + "). FIX: compute on the CPU, or " + driver::lacking);
  }
  static bool available() { return devices() > 0; }
  static int devices() {
    int count = 0;
    return driver::count_devices(&count) == driver::success ? count : 0;
  }
  // All that the process does from now on, in any thread, is on the machine's device of this number, counted on where there are fewer. Before anything else is asked of the backend.
  static void use_device(int number) {
    check_machine();
    Device::use(number % devices());
  }
  static auto stream() { return Device::stream(); }
  static auto alone() { return Device::alone(); }

  // A moment of the stream. One that nothing was noted of has come.
  class moment {
   public:
    moment() = default;
    moment(moment const&) = delete;
    moment& operator=(moment const&) = delete;
    ~moment() {
      if (noted_) driver::destroy(event_);
    }
    void note() {
      auto const in = stream();
      if (!noted_) Device::check(driver::make(&event_), "an event could not be made");
      noted_ = true;
      Device::check(driver::record(event_, in), "an event could not be recorded");
    }
    void wait() {
      if (noted_) Device::check(driver::wait(event_), "computing on the device, or copying from it");
    }

   private:
    typename driver::event event_{};
    bool noted_ = false;
  };

  // The host does not reach the device's memory.
  static void clear(std::byte* to, std::int64_t count) {
    auto const held = alone();
    Device::clear(to, count);
  }
  static void upload(std::byte* to, std::byte const* from, std::int64_t count) {
    auto const held = alone();
    start_upload(to, from, count);
    Device::check(driver::wait(stream()), "copying to the device");
  }
  // From memory of allocate_on_host, beside what was started before, to what nothing of that reads: for what is started from then on.
  static void upload_ahead(std::byte* to, std::byte const* from, std::int64_t count) {
    Device::ahead([&] { start_upload(to, from, count); });
  }
  // To such memory, in order with what is started.
  static void download_later(std::byte* to, std::byte const* from, std::int64_t count) { Device::check(driver::download(to, from, static_cast<std::size_t>(count), stream()), "copying from the device"); }
  static void download(std::byte* to, std::byte const* from, std::int64_t count) {
    auto const held = alone();
    download_later(to, from, count);
    Device::check(driver::wait(stream()), "computing on the device, or copying from it");
  }

 private:
  static std::byte* allocated(typename driver::status (*by)(void**, std::size_t), std::int64_t count, char const* otherwise) {
    Device::here();
    void* p = nullptr;
    Device::check(by(&p, static_cast<std::size_t>(count)), otherwise);
    return static_cast<std::byte*>(p);
  }
  static void start_upload(std::byte* to, std::byte const* from, std::int64_t count) { Device::check(driver::upload(to, from, static_cast<std::size_t>(count), stream()), "copying to the device"); }
};

}  // namespace tx::backends::device
