// Tiles of bf16 on a matrix unit (AMX): 32 x 32 sums in four of its registers. A is read row by row, B in panels of 32 columns, both
// in pairs along the depth. A sum adds 32 products of the depth at a time (even and odd ones apart, Intel SDM, TDPBF16PS): the same
// bits in any batch and block, others than those of vectors.
#pragma once

#include <tx/backends/cpu/gemm_unit.hpp>

#include <algorithm>
#include <cstdint>

#if TX_HAS_AMX
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tx::backends::cpu::detail {

#if TX_HAS_AMX

// The system grants the unit's registers to a process that asks (Linux, Documentation/arch/x86/xstate.rst). Where it does not, tiles lie in
// vector registers.
inline bool matrix_unit_permitted() {
  static bool const granted = [] {
    constexpr long request_permission = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
  }();
  return granted;
}

class matrix_tiles {
  using pair = half_pair<bf16>;

 public:
  static constexpr int rows = gemm_tile<bf16>::rows;
  static constexpr extent whole_steps = 16;  // of one instruction: blocks of the depth are multiples of it

  matrix_tiles() = default;
  matrix_tiles(matrix_tiles const&) = delete;
  matrix_tiles& operator=(matrix_tiles const&) = delete;
  ~matrix_tiles() { _tile_release(); }

  template <class Left>
  static constexpr extent group(Left const& a) {
    return rows * a.row;
  }
  template <class Left>
  static constexpr int rows_of(extent left, int, Left const&) { return left < rows ? static_cast<int>(left) : rows; }

  // c[count][columns] = or += a b over some steps of the depth.
  void run(int count, int columns, extent steps, matrix<pair> a, pair const* b, extent b_row, f32* c, extent c_row, bool add, pair const*, extent) {
    if (count != count_ || columns != columns_) configure(count, columns);
    auto const body = count > half ? (columns > half ? tile<true, true> : tile<true, false>) : (columns > half ? tile<false, true> : tile<false, false>);
    body(count, steps, a.data, a.row, b, b_row, c, c_row, add);
  }

 private:
  static constexpr int half = 16;  // rows and columns of a register

  // Registers 0 to 3: C, row by row; 4, 5: A; 6, 7: B.
  void configure(int count, int columns) {
    struct alignas(64) {
      std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
      std::uint16_t bytes[16] = {};
      std::uint8_t row_count[16] = {};
    } shape;
    auto const set = [&](int at, int r, int row_bytes) {
      if (r <= 0 || row_bytes <= 0) return;
      shape.row_count[at] = static_cast<std::uint8_t>(r);
      shape.bytes[at] = static_cast<std::uint16_t>(row_bytes);
    };
    for (int i = 0; i < 2; ++i) {
      int const r = std::min(count - i * half, half);
      for (int j = 0; j < 2; ++j) set(2 * i + j, r, 4 * std::min(columns - j * half, half));
      set(4 + i, r, 64);
      set(6 + i, half, 4 * std::min(columns - i * half, half));
    }
    memory_is_read();
    _tile_loadconfig(&shape);
    count_ = count;
    columns_ = columns;
  }

  template <bool TwoRows, bool TwoColumns>
  static void tile(int count, extent steps, pair const* a, extent a_row, pair const* b, extent b_row, f32* c, extent c_row, bool add) {
    extent const c_bytes = 4 * c_row;
    memory_is_read();
    if (add) {
      _tile_loadd(0, c, c_bytes);
      if constexpr (TwoColumns) _tile_loadd(1, c + half, c_bytes);
      if constexpr (TwoRows) _tile_loadd(2, c + half * c_row, c_bytes);
      if constexpr (TwoRows && TwoColumns) _tile_loadd(3, c + half * c_row + half, c_bytes);
    } else {
      _tile_zero(0);
      if constexpr (TwoColumns) _tile_zero(1);
      if constexpr (TwoRows) _tile_zero(2);
      if constexpr (TwoRows && TwoColumns) _tile_zero(3);
    }
    extent s = 0;
    for (; s + whole_steps <= steps; s += whole_steps) multiply<TwoRows, TwoColumns>(a + s, a_row, b + s * b_row, b_row);
    if (s < steps) {  // the rest of the depth, then zeros
      alignas(64) pair left[rows * whole_steps] = {}, right[whole_steps * rows] = {};
      for (int r = 0; r < count; ++r) __builtin_memcpy(left + r * whole_steps, a + r * a_row + s, static_cast<std::size_t>(steps - s) * sizeof(pair));
      for (extent p = s; p < steps; ++p) __builtin_memcpy(right + (p - s) * rows, b + p * b_row, (TwoColumns ? 2 : 1) * half * sizeof(pair));
      memory_is_read();
      multiply<TwoRows, TwoColumns>(left, whole_steps, right, rows);
    }
    _tile_stored(0, c, c_bytes);
    if constexpr (TwoColumns) _tile_stored(1, c + half, c_bytes);
    if constexpr (TwoRows) _tile_stored(2, c + half * c_row, c_bytes);
    if constexpr (TwoRows && TwoColumns) _tile_stored(3, c + half * c_row + half, c_bytes);
    memory_is_read();
  }

  // Sixteen steps.
  template <bool TwoRows, bool TwoColumns>
  static TX_INLINE void multiply(pair const* a, extent a_row, pair const* b, extent b_row) {
    _tile_loadd(4, a, 4 * a_row);
    _tile_loadd(6, b, 4 * b_row);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (TwoColumns) {
      _tile_loadd(7, b + half, 4 * b_row);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (TwoRows) {
      _tile_loadd(5, a + half * a_row, 4 * a_row);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (TwoColumns) _tile_dpbf16ps(3, 5, 7);
    }
  }

  // The intrinsics of some compilers do not say that they read memory, or write it.
  static TX_INLINE void memory_is_read() { asm volatile("" ::: "memory"); }

  int count_ = 0, columns_ = 0;
};

#endif

}  // namespace tx::backends::cpu::detail
