// Blocks of rows as the attention kernels hold them: S, which is f64 where a problem is and f32 else, in whole vectors, as they lie in memory or
// turned, and their products.
#pragma once

#include <tx/backends/cpu/gemm_kernel.hpp>
#include <tx/backends/cpu/registers.hpp>

namespace tx::backends::cpu::detail {

constexpr extent whole_vectors(extent n) { return round_up(n, lanes); }

// n elements of T, times a factor; zeros up to a whole vector.
template <class T, class S>
TX_INLINE void load_row(T const* from, extent n, S factor, S* to) {
  constexpr dtype D = dtype_v<T>;
  extent c = 0;
  for (; c + lanes <= n; c += lanes) (convert<S>(load_lanes<D, true>(reinterpret_cast<std::byte const*>(from + c), lanes)) * simd<S>(factor)).store(to + c);
  if (c < n) {
    int const left = static_cast<int>(n - c);
    keep_first(convert<S>(load_lanes<D, false>(reinterpret_cast<std::byte const*>(from + c), left)) * simd<S>(factor), left, S{}).store(to + c);
  }
}
// Rows `row` apart, times a factor, to [rows up to whole vectors, columns], the rows past the last 0.
template <class T, class S>
__attribute__((noinline)) void load_rows(T const* from, extent row, extent rows, extent n, S factor, S* to, extent columns) {
  for (extent r = 0; r < rows; ++r) load_row(from + r * row, n, factor, to + r * columns);
  for (extent r = rows; r < whole_vectors(rows); ++r)
    for (extent c = 0; c < columns; c += lanes) simd<S>(S{}).store(to + r * columns + c);
}

// A row of S, times a factor, to n elements of T, or added to them, which is for elements of S alone.
template <bool Add, class T, class S>
TX_INLINE void store_row(S const* from, extent n, S factor, T* to) {
  constexpr dtype D = dtype_v<T>;
  static_assert(!Add || std::is_same_v<T, S>);
  for (extent c = 0; c < n; c += lanes) {
    auto const left = static_cast<int>(std::min<extent>(lanes, n - c));
    auto x = simd<S>::load(from + c) * simd<S>(factor);
    if constexpr (Add) x = x + load_lanes<D, false>(reinterpret_cast<std::byte const*>(to + c), left);
    store_lanes<D, false>(reinterpret_cast<std::byte*>(to + c), x, left);
  }
}
template <bool Add = false, class T, class S>
__attribute__((noinline)) void store_rows(S const* from, extent columns, extent rows, extent n, S factor, T* to, extent row) {
  for (extent r = 0; r < rows; ++r) store_row<Add>(from + r * columns, n, factor, to + r * row);
}
template <class T>
void zero_rows(T* to, extent row, extent rows, extent n) {
  for (extent r = 0; r < rows; ++r) std::fill_n(to + r * row, n, T{});
}

// [m, n] to [n, m], both of whole vectors.
template <class S>
__attribute__((noinline)) void turn(S const* from, extent from_row, extent m, extent n, S* to, extent to_row) {
  for (extent i = 0; i < m; i += lanes_of<S>)
    for (extent j = 0; j < n; j += lanes_of<S>) transpose_square(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
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
  template <class S>
  std::pair<S const*, extent> tile(extent number) const {
    extent const lines = (bytes + 63) / 64;
    if (number >= 2 * lines) return {nullptr, 0};
    return {reinterpret_cast<S const*>(of[number / lines] + number % lines * 64), row / static_cast<extent>(sizeof(S))};
  }
};

template <int NV, class S>
void block_columns(extent m, extent k, matrix<S> a, S const* b, extent b_row, S* c, extent c_row, bool add, rows_ahead const& ahead) {
  constexpr int R = block_rows<NV>;
  extent i = 0, number = 0;
  auto const run = [&](int together, tile_function<S> of) {
    auto const [from, row_step] = ahead.tile<S>(number++);
    of(k, {a.data + i * a.row, a.row, a.column}, b, b_row, c + i * c_row, c_row, add, 0, from, row_step);
    i += together;
  };
  while (i + R <= m) run(R, tile<S, R, NV, false>);
  if (R > 4 && i + 4 <= m) run(4, tile<S, 4, NV, false>);
  if (i + 2 <= m) run(2, tile<S, 2, NV, false>);
  if (i < m) run(1, tile<S, 1, NV, false>);
}

// C [m, n] = or += A [m, k] B [k, n], n of whole vectors: a chain of fmas over k.
template <class S>
void block_product(extent m, extent n, extent k, matrix<S> a, S const* b, extent b_row, S* c, extent c_row, bool add, rows_ahead const& ahead = {}) {
  constexpr int width = lanes_of<S>;
  extent const vectors = n / width, pieces = (vectors + block_vectors - 1) / block_vectors;
  extent at = 0;
  for (extent p = 0; p < pieces; ++p) {
    extent const end = vectors * (p + 1) / pieces * width;
    auto const columns = static_cast<int>((end - at) / width);
    if constexpr (block_vectors == 4) {
      auto const body = columns == 4 ? block_columns<4, S> : columns == 3 ? block_columns<3, S> : columns == 2 ? block_columns<2, S> : block_columns<1, S>;
      body(m, k, a, b + at, b_row, c + at, c_row, add, ahead);
    } else {
      auto const body = columns == 2 ? block_columns<2, S> : block_columns<1, S>;
      body(m, k, a, b + at, b_row, c + at, c_row, add, ahead);
    }
    at = end;
  }
}

}  // namespace tx::backends::cpu::detail
