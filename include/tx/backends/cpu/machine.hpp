// What the machine has of the instructions that the program was compiled for.
#pragma once

#include <tx/core/error.hpp>

#include <initializer_list>

namespace tx::backends::cpu {

// A set of instructions that the program was compiled for.
struct instruction_set {
  char const* name;
  bool present;  // in this processor
};

// Throws tx::error for the first set that is not present.
inline void require_instructions(std::initializer_list<instruction_set> compiled_for) {
  for (instruction_set const& i : compiled_for)
    if (!i.present)
      throw error(std::string("this program was compiled for ") + i.name +
                  ", which this processor lacks. FIX: build with -DTX_ARCH=native on this machine, or -DTX_ARCH=x86-64-v2 for any");
}

// Refuses to start where the first vector instruction would kill the process. The names of macros and of GCC's
// __builtin_cpu_supports are those of GCC's manual, "x86 Options" and "x86 Built-in Functions". A matrix unit is no matter of
// refusal: without one, tiles of vectors are used (gemm_amx.hpp). A compiler's library that has not looked at the processor (zig's) lacks
// even SSE2, which each of them has: then nothing is known, and nothing refused.
inline void require_instructions() {
#if defined(__x86_64__) && defined(__GNUC__)
  if (!__builtin_cpu_supports("sse2")) return;
  require_instructions({
#if defined(__AVX512F__)
      {"AVX-512", __builtin_cpu_supports("avx512f") != 0},
#endif
#if defined(__AVX512BW__)
      {"AVX-512 BW", __builtin_cpu_supports("avx512bw") != 0},
#endif
#if defined(__AVX512DQ__)
      {"AVX-512 DQ", __builtin_cpu_supports("avx512dq") != 0},
#endif
#if defined(__AVX512VL__)
      {"AVX-512 VL", __builtin_cpu_supports("avx512vl") != 0},
#endif
#if defined(__AVX512VBMI__)
      {"AVX-512 VBMI", __builtin_cpu_supports("avx512vbmi") != 0},
#endif
#if defined(__AVX512VNNI__)
      {"AVX-512 VNNI", __builtin_cpu_supports("avx512vnni") != 0},
#endif
#if defined(__AVX512BF16__)
      {"AVX-512 BF16", __builtin_cpu_supports("avx512bf16") != 0},
#endif
#if defined(__BMI2__)
      {"BMI2", __builtin_cpu_supports("bmi2") != 0},
#endif
#if defined(__AVX2__)
      {"AVX2", __builtin_cpu_supports("avx2") != 0},
#endif
#if defined(__FMA__)
      {"FMA", __builtin_cpu_supports("fma") != 0},
#endif
#if defined(__XOP__)
      {"XOP", __builtin_cpu_supports("xop") != 0},
#endif
#if defined(__FMA4__)
      {"FMA4", __builtin_cpu_supports("fma4") != 0},
#endif
#if defined(__AVX__)
      {"AVX", __builtin_cpu_supports("avx") != 0},
#endif
  });
#endif
}

}  // namespace tx::backends::cpu
