// The CPU backend: vector kernels over GCC's vector types, packed products, OpenMP threads.
#pragma once

#include <tx/backends/cpu/kernels.hpp>
#include <tx/backends/cpu/machine.hpp>

#include <new>

namespace tx {

struct cpu {
  template <class Signature>
  using kernel = backends::cpu::kernel<Signature>;

  static std::byte* allocate(std::int64_t count) {
    return static_cast<std::byte*>(::operator new(static_cast<std::size_t>(count), std::align_val_t{exec::alignment}));
  }
  static void release(std::byte* p, std::int64_t) { ::operator delete(p, std::align_val_t{exec::alignment}); }
  static int default_threads() { return backends::cpu::machine_threads(); }
  static void check_machine() { backends::cpu::require_instructions(); }
};

}  // namespace tx
