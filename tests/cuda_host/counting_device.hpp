// A device with a library of products that computes nothing: it counts what a step would start.
#pragma once

#include <tx/backends/cuda/target.hpp>
#include <tx/backends/device/whole_kernels.hpp>
#include <tx/run/program_on.hpp>
#include <tx/run/run.hpp>

namespace counting {

struct counts {
  std::int64_t launches = 0;
  std::int64_t small = 0;  // of fewer blocks than an H100 has multiprocessors
};

struct device {
  static constexpr tx::backends::device::matrix_units units = tx::backends::device::matrix_units::of_warps;
  static inline counts all{};

  template <class Task>
  static void launch(int blocks, int, std::int64_t, typename Task::arguments const&) {
    ++all.launches;
    all.small += blocks < 132;
  }
  static bool multiply(tx::backends::device::library_product const&) {
    ++all.launches;
    return true;
  }
  static void clear(std::byte*, std::int64_t) {
    ++all.launches;
    ++all.small;
  }
};

struct backend {
  static constexpr tx::target const& target = tx::cuda_blas_target;
  template <class Signature>
  using kernel = tx::backends::device::kernel<device, Signature>;
};

// Of one step; no memory is touched.
template <class Step>
counts launches_of() {
  device::all = {};
  alignas(64) static std::byte somewhere[64];
  tx::exec::frame nowhere{};
  for (std::byte*& base : nowhere.base) base = somewhere;
  tx::exec::runner<tx::exec::program_on<Step, backend>, backend>::run(nowhere);
  return device::all;
}

}  // namespace counting
