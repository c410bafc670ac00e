// How long each kernel of a step takes on a device, by events of the device's own clock.
#pragma once

#include <tx/backends/cuda.hpp>
#include <tx/run/kernel_log.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

// As a kernel_log, but for when kernels run and not for when they are started.
class kernel_times final : public tx::exec::observer {
 public:
  kernel_times() = default;
  // `cleared`: memory of the device that is cleared before the first kernel, so that caches hold nothing of its operands, and the host is ahead of the device from then on.
  explicit kernel_times(std::span<std::byte> cleared) : cleared_(cleared) {}
  kernel_times(kernel_times const&) = delete;
  kernel_times& operator=(kernel_times const&) = delete;
  ~kernel_times() {
    for (pair const& p : pairs_) {
      cudaEventDestroy(p.before);
      cudaEventDestroy(p.after);
    }
  }

  void before_kernel(tx::exec::frame const&, tx::exec::call const&) override {
    if (pairs_.empty() && !cleared_.empty()) check(cudaMemsetAsync(cleared_.data(), 0, cleared_.size(), tx::cuda::stream()));
    pairs_.emplace_back();
    for (cudaEvent_t* e : {&pairs_.back().before, &pairs_.back().after}) check(cudaEventCreate(e));
    check(cudaEventRecord(pairs_.back().before, tx::cuda::stream()));
  }
  void after_kernel(tx::exec::frame const& f, tx::exec::call const& c) override {
    check(cudaEventRecord(pairs_.back().after, tx::cuda::stream()));
    tx::exec::call now = c;
    resolve(now, f.extents);
    log_.events.push_back({&c, 0, 0, f.iteration, f.end_row(now) - f.first_row(now), f.extents});
  }

  // When the device is done.
  tx::exec::kernel_log const& log() {
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      check(cudaEventSynchronize(pairs_[k].after));
      float start = 0, taken = 0;
      check(cudaEventElapsedTime(&start, pairs_[0].before, pairs_[k].before));
      check(cudaEventElapsedTime(&taken, pairs_[k].before, pairs_[k].after));
      log_.events[k].start = 1e-3 * static_cast<double>(start);
      log_.events[k].seconds = 1e-3 * static_cast<double>(taken);
    }
    return log_;
  }

 private:
  struct pair {
    cudaEvent_t before{}, after{};
  };
  static void check(cudaError_t status) { tx::backends::cuda::gpu::check(status, "an event"); }
  std::span<std::byte> cleared_;
  std::vector<pair> pairs_;
  tx::exec::kernel_log log_;
};

}  // namespace bench
