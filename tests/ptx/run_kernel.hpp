// Kernels of a few lines for tests of the runner.
#pragma once

#include "runner/device.hpp"

#include <span>
#include <string>
#include <vector>

// A kernel `k` of up to four parameters of 64 bits, p0 to p3, which are addresses in %rd0 to %rd3; %r0 is the thread's
// number in its block, %r1 the block's.
inline std::string kernel_text(std::string const& body, std::string const& before = "") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n" + before +
         "\n.visible .entry k(\n .param .u64 p0,\n .param .u64 p1,\n .param .u64 p2,\n .param .u64 p3\n)\n{\n"
         " .reg .pred %p<20>;\n .reg .b16 %h<20>;\n .reg .b32 %r<60>;\n .reg .b64 %rd<40>;\n .reg .f32 %f<40>;\n .reg "
         ".f64 %fd<20>;\n"
         " ld.param.u64 %rd0, [p0];\n ld.param.u64 %rd1, [p1];\n ld.param.u64 %rd2, [p2];\n ld.param.u64 %rd3, [p3];\n "
         "mov.u32 %r0, %tid.x;\n mov.u32 %r1, %ctaid.x;\n" +
         body + "\n ret;\n}\n";
}

template <class T>
std::byte* on_device(ptx::device& d, std::span<T const> values) {
  std::byte* const at = d.memory.allocate(values.size_bytes());
  std::memcpy(at, values.data(), values.size_bytes());
  d.memory.written(at, values.size_bytes(), d.time.now());
  return at;
}
template <class T>
std::byte* on_device(ptx::device& d, std::vector<T> const& values) {
  return on_device(d, std::span<T const>(values));
}
template <class T>
std::vector<T> from_device(std::byte const* at, std::size_t count) {
  std::vector<T> out(count);
  std::memcpy(out.data(), at, count * sizeof(T));
  return out;
}

struct shape_of_launch {
  unsigned blocks = 1, threads = 32;
  int shared = 0;    // bytes
  int without = -1;  // a barrier or wait
};

inline void run_text(ptx::device& d, std::string const& text, shape_of_launch s, std::vector<std::byte*> addresses) {
  auto const& m = d.load(text);
  addresses.resize(4);
  std::vector<void const*> arguments;
  for (auto const& a : addresses) arguments.push_back(&a);
  d.launch(m, m.code.kernels.at("k"), {s.blocks, 1, 1}, {s.threads, 1, 1}, s.shared, arguments.data(), s.without);
}

// Both orders of threads and blocks.
inline constexpr ptx::order orders[] = {ptx::order::forwards, ptx::order::backwards};
