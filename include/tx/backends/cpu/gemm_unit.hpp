// What one step of a product multiplies: an element of each side, or of halves two neighbours along the depth, summed in f32.
// Where the machine multiplies pairs of bf16 in one instruction it does; elsewhere both are widened.
#pragma once

#include <tx/backends/cpu/halves.hpp>
#include <tx/backends/cpu/matrix_unit.hpp>

#include <cstddef>

namespace tx::backends::cpu {

using extent = std::ptrdiff_t;

// Elements of a matrix and how far apart, in elements, its rows and its columns are.
template <class T>
struct matrix {
  T const* data;
  extent row, column;
};

template <class H>
struct half_pair {
  H of[2];
};

namespace detail {

// A matrix product as its tiles see it.
template <class T>
struct product_of {
  using unit = T;
  using sum = T;
  static constexpr int elements = 1;  // of the depth, in a unit
  static constexpr int lanes = lanes_of<sum>;
  using units = simd<T, lanes>;
  using sums = simd<T, lanes>;

  static TX_INLINE units load(unit const* p) { return units::load(p); }
  static TX_INLINE units load_n(unit const* p, int n) { return units::load_n(p, n); }
  static TX_INLINE units broadcast(unit const& x) { return units(x); }
  static TX_INLINE sums multiply_add(units y, units x, sums sum) { return fma(y, x, sum); }
};

template <class H>
  requires(is_half(dtype_v<H>))
struct product_of<H> {
  using unit = half_pair<H>;
  using sum = f32;
  static constexpr int elements = 2;
  static constexpr int lanes = lanes_of<sum>;
  using units = simd<i32, lanes>;  // the bits of pairs
  using sums = simd<f32, lanes>;

  static TX_INLINE units load(unit const* p) { return units::load(reinterpret_cast<i32 const*>(p)); }
  static TX_INLINE units load_n(unit const* p, int n) { return units::load_n(reinterpret_cast<i32 const*>(p), n); }
  static TX_INLINE units broadcast(unit const& x) {
    i32 pair;
    __builtin_memcpy(&pair, &x, sizeof pair);
    return units(pair);
  }
  static TX_INLINE sums multiply_add(units y, units x, sums sum) {
#if defined(__AVX512BF16__)
    if constexpr (std::is_same_v<H, bf16>) {
#if defined(__clang__) && __clang_major__ == 16  // which dies of its vectors of bf16
      auto more = sum.v;
      asm("vdpbf16ps %2, %1, %0" : "+v"(more) : "v"(x.v), "v"(y.v));
      return sums(more);
#else
      return sums((typename sums::vec)_mm512_dpbf16_ps((__m512)sum.v, (__m512bh)x.v, (__m512bh)y.v));
#endif
    }
    else
#endif
    return fma(second(y), second(x), fma(first(y), first(x), sum));
  }

 private:
  static TX_INLINE sums first(units x) { return widen<H>(x & units(0xffff)); }
  static TX_INLINE sums second(units x) { return widen<H>((x >> 16) & units(0xffff)); }
};

}  // namespace detail

template <class T>
using unit_t = typename detail::product_of<T>::unit;
template <class T>
using sum_t = typename detail::product_of<T>::sum;
// Steps over a depth of k elements.
template <class T>
constexpr extent steps_of(extent k) {
  return (k + detail::product_of<T>::elements - 1) / detail::product_of<T>::elements;
}

// Was the program compiled for a matrix unit that multiplies tiles of such elements?
template <class T>
inline constexpr bool has_matrix_unit = TX_HAS_AMX && std::is_same_v<T, bf16> && lanes == 16;

// The tile of C kept in registers, and the blocks kept in the caches. Of a depth: in steps.
template <class T>
struct gemm_tile {
  static constexpr int register_rows = lanes == 16 ? 8 : 6;
  static constexpr int rows = has_matrix_unit<T> ? 32 : register_rows;
  static constexpr int vectors = lanes == 16 && !has_matrix_unit<T> ? 3 : 2;  // 24 accumulators of 32 registers, or 12 of 16
  static constexpr int width = detail::product_of<T>::lanes;
  static constexpr int columns = vectors * width;

  // Bytes of cache a core has, on the machines each instruction set is found in: levels one and two.
  static constexpr extent l1 = 32 << 10, l2 = (lanes == 16 ? 1024 : 512) << 10;
  static constexpr extent size = sizeof(unit_t<T>);
  // Steps over k: a panel of B takes a quarter of the second level at most, the rows of A three quarters of the first.
  static constexpr extent longest = l2 / 4 / (columns * size) < l1 * 3 / 4 / (rows * size) ? l2 / 4 / (columns * size) : l1 * 3 / 4 / (rows * size);
  static constexpr extent depth = has_matrix_unit<T> ? longest / 16 * 16 : longest;
  // Rows of A in a block: half of the second level.
  static constexpr extent block_rows = l2 / 2 / (depth * size) / rows * rows;
  // Columns that go through an epilogue at a time where it can do so.
  static constexpr extent block_columns = 8 * columns;
};

}  // namespace tx::backends::cpu
