// Blocks of rows as the attention kernels hold them: f32, in whole vectors, as they lie in memory or turned, and their products.
#pragma once

#include <tx/backends/cpu/gemm_kernel.hpp>
#include <tx/backends/cpu/registers.hpp>

namespace tx::backends::cpu::detail {

constexpr extent whole_vectors(extent n) { return round_up(n, lanes); }

// n elements of T, times a factor; zeros up to a whole vector.
template <class T>
TX_INLINE void load_row(T const* from, extent n, f32 factor, f32* to) {
  constexpr dtype D = dtype_v<T>;
  extent c = 0;
  for (; c + lanes <= n; c += lanes) (load_lanes<D, true>(reinterpret_cast<std::byte const*>(from + c), lanes) * simd<f32>(factor)).store(to + c);
  if (c < n) {
    int const left = static_cast<int>(n - c);
    keep_first(load_lanes<D, false>(reinterpret_cast<std::byte const*>(from + c), left) * simd<f32>(factor), left, 0.f).store(to + c);
  }
}
// Rows `row` apart, times a factor, to [rows up to whole vectors, columns], the rows past the last 0.
template <class T>
__attribute__((noinline)) void load_rows(T const* from, extent row, extent rows, extent n, f32 factor, f32* to, extent columns) {
  for (extent r = 0; r < rows; ++r) load_row(from + r * row, n, factor, to + r * columns);
  for (extent r = rows; r < whole_vectors(rows); ++r)
    for (extent c = 0; c < columns; c += lanes) simd<f32>(0.f).store(to + r * columns + c);
}

// A row of f32, times a factor, to n elements of T, or added to them, which is for f32 alone.
template <class T, bool Add>
TX_INLINE void store_row(f32 const* from, extent n, f32 factor, T* to) {
  constexpr dtype D = dtype_v<T>;
  static_assert(!Add || D == dtype::f32);
  for (extent c = 0; c < n; c += lanes) {
    auto const left = static_cast<int>(std::min<extent>(lanes, n - c));
    auto x = simd<f32>::load(from + c) * simd<f32>(factor);
    if constexpr (Add) x = x + load_lanes<D, false>(reinterpret_cast<std::byte const*>(to + c), left);
    store_lanes<D, false>(reinterpret_cast<std::byte*>(to + c), x, left);
  }
}
template <class T, bool Add = false>
__attribute__((noinline)) void store_rows(f32 const* from, extent columns, extent rows, extent n, f32 factor, T* to, extent row) {
  for (extent r = 0; r < rows; ++r) store_row<T, Add>(from + r * columns, n, factor, to + r * row);
}
template <class T>
void zero_rows(T* to, extent row, extent rows, extent n) {
  for (extent r = 0; r < rows; ++r) std::fill_n(to + r * row, n, T{});
}

// [m, n] to [n, m], both of whole vectors.
inline __attribute__((noinline)) void turn(f32 const* from, extent from_row, extent m, extent n, f32* to, extent to_row) {
  for (extent i = 0; i < m; i += lanes)
    for (extent j = 0; j < n; j += lanes) transpose_square(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
}

// Vectors of a tile, and its rows: 24 accumulators of 32 registers, or 12 of 16.
inline constexpr int block_vectors = lanes == 16 ? 4 : 2;
template <int Vectors>
inline constexpr int block_rows = lanes == 16 && Vectors < 4 ? 8 : 6;

// Rows that are wanted soon: a tile fetches a cache line of each, as many rows as it has steps.
struct rows_ahead {
  std::byte const* of[2] = {};  // one after the other
  extent row = 0, bytes = 0;    // apart; of each

  // What the tile with this number fetches, and how far apart, as tiles count.
  std::pair<f32 const*, extent> tile(extent number) const {
    extent const lines = (bytes + 63) / 64;
    if (number >= 2 * lines) return {nullptr, 0};
    return {reinterpret_cast<f32 const*>(of[number / lines] + number % lines * 64), row / 4};
  }
};

template <int NV>
void block_columns(extent m, extent k, matrix<f32> a, f32 const* b, extent b_row, f32* c, extent c_row, bool add, rows_ahead const& ahead) {
  constexpr int R = block_rows<NV>;
  extent i = 0, number = 0;
  auto const run = [&](int together, tile_function<f32> of) {
    auto const [from, row_step] = ahead.tile(number++);
    of(k, {a.data + i * a.row, a.row, a.column}, b, b_row, c + i * c_row, c_row, add, 0, from, row_step);
    i += together;
  };
  while (i + R <= m) run(R, tile<f32, R, NV, false>);
  if (R > 4 && i + 4 <= m) run(4, tile<f32, 4, NV, false>);
  if (i + 2 <= m) run(2, tile<f32, 2, NV, false>);
  if (i < m) run(1, tile<f32, 1, NV, false>);
}

// C [m, n] = or += A [m, k] B [k, n], n of whole vectors: a chain of fmas over k.
inline void block_product(extent m, extent n, extent k, matrix<f32> a, f32 const* b, extent b_row, f32* c, extent c_row, bool add,
                          rows_ahead const& ahead = {}) {
  extent const vectors = n / lanes, pieces = (vectors + block_vectors - 1) / block_vectors;
  extent at = 0;
  for (extent p = 0; p < pieces; ++p) {
    extent const end = vectors * (p + 1) / pieces * lanes;
    auto const columns = static_cast<int>((end - at) / lanes);
    if constexpr (block_vectors == 4) {
      auto const body = columns == 4 ? block_columns<4> : columns == 3 ? block_columns<3> : columns == 2 ? block_columns<2> : block_columns<1>;
      body(m, k, a, b + at, b_row, c + at, c_row, add, ahead);
    } else {
      auto const body = columns == 2 ? block_columns<2> : block_columns<1>;
      body(m, k, a, b + at, b_row, c + at, c_row, add, ahead);
    }
    at = end;
  }
}

}  // namespace tx::backends::cpu::detail
