// The CPU backend: vector kernels over GCC's vector types, packed products, a pool of threads.
#pragma once

#include <tx/backends/cpu/attention_kernels.hpp>
#include <tx/backends/cpu/kernels.hpp>
#include <tx/backends/cpu/machine.hpp>
#include <tx/backends/cpu/pages.hpp>
#include <tx/backends/cpu/processors.hpp>
#include <tx/backends/cpu/target.hpp>

namespace tx {

struct cpu {
  static constexpr tx::target const& target = cpu_target;
  template <class Signature>
  using kernel = backends::cpu::kernel<Signature>;

  static std::byte* allocate(std::int64_t count) { return backends::cpu::allocate_pages(count); }
  static void release(std::byte* p, std::int64_t count) { backends::cpu::release_pages(p, count); }
  static int default_threads() { return backends::cpu::machine_threads(); }
  static void prepare(int threads) { backends::cpu::thread_pool::shared().prepare(threads); }
  static void check_machine() { backends::cpu::require_instructions(); }
};

}  // namespace tx
