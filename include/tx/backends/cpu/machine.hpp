// What the machine has: threads, and the instructions the program was compiled for.
#pragma once

#include <tx/core/error.hpp>

#include <thread>

namespace tx::backends::cpu {

inline int machine_threads() {
#if defined(_OPENMP)
  unsigned const n = std::thread::hardware_concurrency();
  return n > 0 ? static_cast<int>(n) : 1;
#else
  return 1;
#endif
}

// Refuses to start where the first vector instruction would kill the process.
inline void require_instructions() {
#if defined(__x86_64__) && defined(__GNUC__)
  auto const refuse = [](char const* what) {
    throw error(std::string("this program was compiled for ") + what + ", which this processor lacks. FIX: build with -DTX_ARCH=x86-64-v2 or lower");
  };
#if defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512f")) refuse("AVX-512");
#endif
#if defined(__AVX512BW__)
  if (!__builtin_cpu_supports("avx512bw")) refuse("AVX-512 BW");
#endif
#if defined(__AVX512DQ__)
  if (!__builtin_cpu_supports("avx512dq")) refuse("AVX-512 DQ");
#endif
#if defined(__AVX512VL__)
  if (!__builtin_cpu_supports("avx512vl")) refuse("AVX-512 VL");
#endif
#if defined(__AVX512BF16__)
  if (!__builtin_cpu_supports("avx512bf16")) refuse("AVX-512 BF16");
#endif
#if defined(__BMI2__)
  if (!__builtin_cpu_supports("bmi2")) refuse("BMI2");
#endif
#if defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2")) refuse("AVX2");
#endif
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma")) refuse("FMA");
#endif
  (void)refuse;
#endif
}

}  // namespace tx::backends::cpu
