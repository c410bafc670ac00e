// Compiler facts every other header may rely on. Nothing here has state.
#pragma once

#include <tx/version.hpp>

#include <cstddef>
#include <cstdint>

// Scalar rules are ordinary constexpr functions that device code calls too.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define TX_HD __host__ __device__
#else
#define TX_HD
#endif

#define TX_INLINE inline __attribute__((always_inline))
// Run once or rarely: compiled for size, which is faster to compile.
#define TX_COLD __attribute__((cold, noinline))

namespace tx {

inline constexpr int version_major = TX_VERSION_MAJOR;
inline constexpr int version_minor = TX_VERSION_MINOR;
inline constexpr int version_patch = TX_VERSION_PATCH;

// Axes a tensor may have; graph nodes hold their shape inline.
inline constexpr int max_rank = 6;

}  // namespace tx
