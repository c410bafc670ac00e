// Products of matrices on one thread: C = A B or C += A B, for f32 and f64, whatever the strides of A and B.
//
//   gemm_block<f32>(m, n, k, {a, k, 1}, {b, n, 1}, c, n, product::assign, scratch);    // row-major A and B
//   gemm_block<f32>(m, n, k, {a, 1, m}, {b, 1, k}, c, n, product::add, scratch);       // both transposed
//
//   pack_b<f32>(k, n, {w, n, 1}, packed);                                              // once per weight
//   gemm_packed<f32>(m, n, k, {a, k, 1}, packed, c, n, product::assign, scratch);      // any number of row panels
//
// Every element of C is one chain of fmas, c = fma(a[i][k], b[k][j], c) for k = 0, 1, ..., K - 1, from 0 or from the
// old C. No blocking, edge or tile changes that: a row has the same bits in any batch, with packed weights or not.
//
// The loops are those of K. Goto and R. van de Geijn, Anatomy of high-performance matrix multiplication (2008): B in
// panels of tile columns, A in blocks that stay in the second-level cache, and a tile of C that stays in registers.
#pragma once

#include <tx/backends/cpu/simd.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tx::backends::cpu {

using extent = std::ptrdiff_t;

// Elements of a matrix and how far apart, in elements, its rows and its columns are.
template <class T>
struct matrix {
  T const* data;
  extent row, column;
};

enum class product { assign, add };

// The tile of C kept in registers, and the blocks kept in the caches.
template <class T>
struct gemm_tile {
  static constexpr int rows = 6;
  static constexpr int vectors = lanes == 16 ? 4 : 2;  // 24 accumulators of 32 registers, or 12 of 16
  static constexpr int columns = vectors * lanes_of<T>;

  // Bytes of cache a core has, on the machines each instruction set is found in: levels one, two, its share of three.
  static constexpr extent l1 = 32 << 10, l2 = (lanes == 16 ? 1024 : 512) << 10, l3 = 4 << 20;
  static constexpr extent size = sizeof(T);
  // Steps over k: a panel of B takes a quarter of the second level at most, the rows of A three quarters of the first.
  static constexpr extent depth = std::min(l2 / 4 / (columns * size), l1 * 3 / 4 / (rows * size));
  // Rows of A in a block: half of the second level. Columns of B packed at once: half of the third.
  static constexpr extent block_rows = l2 / 2 / (depth * size) / rows * rows;
  static constexpr extent block_columns = l3 / 2 / (depth * size) / columns * columns;
};

namespace detail {

constexpr extent round_up(extent n, extent multiple) { return (n + multiple - 1) / multiple * multiple; }

// k in pieces of nearly equal length, none above `longest`.
constexpr extent piece(extent k, extent longest) {
  extent const pieces = std::max<extent>(1, (k + longest - 1) / longest);
  return std::max<extent>(1, (k + pieces - 1) / pieces);
}

// One tile: c[rows][columns] = or += a b over k steps, R rows by NV vectors.
// Edge: only `rows` rows exist and only `last` columns of the last vector; nothing else is read or written.
// `ahead`: a cache line of it is fetched every step, for later tiles.
template <class T, int R, int NV, bool Edge>
__attribute__((noinline)) void tile(extent k, matrix<T> a, T const* b, extent b_row, T* c, extent c_row, bool add,
                                    int rows, int last, T const* ahead) {
  constexpr int L = lanes_of<T>;
  using V = simd<T, L>;
  V sum[R][NV];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < NV; ++v) {
      if (!add || (Edge && r >= rows)) sum[r][v] = V(T(0));
      else if (Edge && v == NV - 1) sum[r][v] = V::load_n(c + r * c_row + v * L, last);
      else sum[r][v] = V::load(c + r * c_row + v * L);
    }
  for (int r = 0; r < R; ++r)  // the next tile's C
    for (int v = 0; v < NV; ++v) __builtin_prefetch(c + (R + r) * c_row + v * L, 1, 3);
  extent from[R];  // rows that do not exist repeat the last one
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) from[r] = (Edge ? std::min(r, rows - 1) : r) * a.row;
  for (extent i = 0; i < k; ++i) {
    V x[NV];
#pragma GCC unroll 16
    for (int v = 0; v < NV; ++v) x[v] = Edge && v == NV - 1 ? V::load_n(b + v * L, last) : V::load(b + v * L);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      V const y(a.data[from[r]]);
#pragma GCC unroll 16
      for (int v = 0; v < NV; ++v) sum[r][v] = fma(y, x[v], sum[r][v]);
    }
    __builtin_prefetch(ahead, 0, 2);
    ahead += 64 / sizeof(T);
    a.data += a.column;
    b += b_row;
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
    if (Edge && r >= rows) break;
#pragma GCC unroll 16
    for (int v = 0; v < NV; ++v) {
      if (Edge && v == NV - 1) sum[r][v].store_n(c + r * c_row + v * L, last);
      else sum[r][v].store(c + r * c_row + v * L);
    }
  }
}

template <class T>
using tile_function = void (*)(extent, matrix<T>, T const*, extent, T*, extent, bool, int, int, T const*);

// Whole columns: a tile for each number of rows. At the right edge: one for each number of vectors.
template <class T, int... R>
constexpr tile_function<T> inner_tile(int rows, std::integer_sequence<int, R...>) {
  constexpr tile_function<T> table[] = {tile<T, R + 1, gemm_tile<T>::vectors, false>...};
  return table[rows - 1];
}
template <class T, int... V>
constexpr tile_function<T> edge_tile(int vectors, std::integer_sequence<int, V...>) {
  constexpr tile_function<T> table[] = {tile<T, gemm_tile<T>::rows, V + 1, true>...};
  return table[vectors - 1];
}

// L x L values, read by rows `row` apart, written by columns `to_row` apart: interleaving the first half of the vectors
// with the second log2 L times is a transposition.
template <class T>
TX_INLINE void transpose_square(T const* from, extent row, T* to, extent to_row) {
  constexpr int L = lanes_of<T>;
  using V = simd<T, L>;
  V v[L], w[L];
#pragma GCC unroll 16
  for (int i = 0; i < L; ++i) v[i] = V::load(from + i * row);
  auto const interleave = []<int... I>(V a, V b, std::integer_sequence<int, I...>, auto half) {
    return V(__builtin_shufflevector(a.v, b.v, (I / 2 + I % 2 * L + half * (L / 2))...));
  };
#pragma GCC unroll 4
  for (int n = 1; n < L; n *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < L / 2; ++i) {
      w[2 * i] = interleave(v[i], v[i + L / 2], std::make_integer_sequence<int, L>{}, std::integral_constant<int, 0>{});
      w[2 * i + 1] =
          interleave(v[i], v[i + L / 2], std::make_integer_sequence<int, L>{}, std::integral_constant<int, 1>{});
    }
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i) v[i] = w[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < L; ++i) v[i].store(to + i * to_row);
}

// One panel of B: k rows of `width` values, the columns past n zero.
template <class T>
void pack_panel(extent k, extent n, extent width, matrix<T> b, T* out) {
  constexpr int L = lanes_of<T>;
  using V = simd<T, L>;
  for (extent j = 0; j < width; j += L) {
    auto const count = static_cast<int>(std::min<extent>(L, n - j));
    extent i = 0;
    if (b.column == 1) {
      if (count == L)
        for (; i < k; ++i) V::load(b.data + i * b.row + j).store(out + i * width + j);
      for (; i < k; ++i) V::load_n(b.data + i * b.row + j, count).store(out + i * width + j);
    } else if (b.row == 1 && count == L) {
      for (; i + L <= k; i += L) transpose_square(b.data + i + j * b.column, b.column, out + i * width + j, width);
    }
    for (; i < k; ++i)
      for (int c = 0; c < L; ++c) out[i * width + j + c] = c < count ? b.data[i * b.row + (j + c) * b.column] : T(0);
  }
}

// m rows of A in groups of tile rows, step by step: what a tile reads next to each other.
template <class T>
void pack_a(extent m, extent k, matrix<T> a, T* out) {
  constexpr int R = gemm_tile<T>::rows;
  for (extent i = 0; i < m; i += R, out += R * k) {
    auto const from = a.data + i * a.row;
    if (auto const rows = std::min<extent>(R, m - i); rows < R || a.row != 1) {
      for (extent p = 0; p < k; ++p)
        for (extent r = 0; r < rows; ++r) out[p * R + r] = from[p * a.column + r * a.row];
    } else {
      for (extent p = 0; p < k; ++p) __builtin_memcpy(out + p * R, from + p * a.column, R * sizeof(T));
    }
  }
}

// The loops around the tile. panel(j, p): where B's columns from j on start at step p, and how far apart its steps are.
template <class T, class Panel>
void multiply(extent m, extent n, extent k, matrix<T> a, Panel panel, T* c, extent c_row, bool add, T* scratch) {
  using tile = gemm_tile<T>;
  constexpr int R = tile::rows, L = lanes_of<T>;
  extent const step = piece(k, tile::depth);
  extent p = 0;
  do {  // once even where k is 0: C may have to be cleared
    extent const depth = std::min(step, k - p);
    for (extent i0 = 0; i0 < m; i0 += tile::block_rows) {
      extent const i1 = std::min(m, i0 + tile::block_rows);
      matrix<T> block{a.data + i0 * a.row + p * a.column, a.row, a.column};
      extent group = R * a.row;  // from one tile's rows to the next one's
      if (a.column != 1) {
        pack_a(i1 - i0, depth, block, scratch);
        block = {scratch, 1, R};
        group = R * depth;
      }
      for (extent j = 0; j < n; j += tile::columns) {
        auto const [b, b_row] = panel(j, p);
        auto const columns = static_cast<int>(std::min<extent>(tile::columns, n - j));
        // The first tiles fetch the next panel, one line a step.
        auto const next = panel(j + columns < n ? j + columns : 0, p).data;
        extent const next_size = b_row <= tile::columns ? depth * b_row : 0;
        extent fetched = 0;
        auto const vectors = (columns + L - 1) / L;
        auto at = block;
        for (extent i = i0; i < i1; i += R, at.data += group) {
          auto const rows = static_cast<int>(std::min<extent>(R, i1 - i));
          auto const body = columns == tile::columns
                                ? inner_tile<T>(rows, std::make_integer_sequence<int, R>{})
                                : edge_tile<T>(vectors, std::make_integer_sequence<int, tile::vectors>{});
          auto const ahead = fetched < next_size ? next + fetched : b;
          fetched += depth * (64 / tile::size);
          body(depth, at, b, b_row, c + i * c_row + j, c_row, add || p > 0, rows, columns - (vectors - 1) * L, ahead);
        }
      }
    }
    p += step;
  } while (p < k);
}

template <class T>
struct panel_start {
  T const* data;
  extent row;
};

template <class T>
T* align(void* p) {
  return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(p) + 63) / 64 * 64);
}

// A block of A, rounded up to cache lines.
template <class T>
constexpr extent scratch_of_a(extent m, extent k) {
  using tile = gemm_tile<T>;
  return round_up(round_up(std::min(m, tile::block_rows), tile::rows) * piece(k, tile::depth), 64);
}

}  // namespace detail

// Elements that pack_b writes.
template <class T = f32>
constexpr std::size_t packed_b_size(extent k, extent n) {
  return static_cast<std::size_t>(k * detail::round_up(n, lanes_of<T>));
}

// B (k x n) in the order the tiles read it: panels of tile columns, each k rows one after the other; the last panel as
// many vectors wide as it needs. Aligned to 64 bytes it is read fastest.
template <class T>
__attribute__((noinline)) void pack_b(extent k, extent n, matrix<std::type_identity_t<T>> b, T* packed) {
  constexpr extent columns = gemm_tile<T>::columns;
  for (extent j = 0; j < n; j += columns) {
    extent const width = std::min(columns, detail::round_up(n - j, lanes_of<T>));
    detail::pack_panel<T>(k, n - j, width, {b.data + j * b.column, b.row, b.column}, packed + j * k);
  }
}

// Bytes of scratch for gemm_block and gemm_packed, whatever the strides; of any alignment.
template <class T = f32>
constexpr std::size_t gemm_scratch_bytes(extent m, extent n, extent k) {
  using tile = gemm_tile<T>;
  auto const b = packed_b_size<T>(detail::piece(k, tile::depth), std::min(n, tile::block_columns));
  return (static_cast<std::size_t>(detail::scratch_of_a<T>(m, k)) + b) * sizeof(T) + 64;
}

// C (m x n, rows c_row apart) = or += A (m x k) B (k x n), B packed by pack_b.
template <class T>
__attribute__((noinline)) void gemm_packed(extent m, extent n, extent k, matrix<std::type_identity_t<T>> a, std::type_identity_t<T> const* packed,
                 T* c, extent c_row, product mode, void* scratch) {
  auto const panel = [=](extent j, extent p) {
    extent const width = std::min<extent>(gemm_tile<T>::columns, detail::round_up(n - j, lanes_of<T>));
    return detail::panel_start<T>{packed + j * k + p * width, width};
  };
  detail::multiply(m, n, k, a, panel, c, c_row, mode == product::add, detail::align<T>(scratch));
}

// The same with B as it lies. B is packed block by block, unless so few rows of A use it, or it is so narrow, that
// reading it in place is faster.
template <class T>
void gemm_block(extent m, extent n, extent k, matrix<std::type_identity_t<T>> a, matrix<std::type_identity_t<T>> b,
                T* c, extent c_row, product mode, void* scratch) {
  using tile = gemm_tile<T>;
  auto const room = detail::align<T>(scratch);
  if (b.column == 1 && (m <= 4 * tile::rows || b.row <= 2 * tile::columns)) {
    auto const panel = [=](extent j, extent p) { return detail::panel_start<T>{b.data + p * b.row + j, b.row}; };
    return detail::multiply(m, n, k, a, panel, c, c_row, mode == product::add, room);
  }
  auto const packed = room + detail::scratch_of_a<T>(m, k);
  extent const step = detail::piece(k, tile::depth);
  for (extent j = 0; j < n; j += tile::block_columns) {
    extent const columns = std::min(n - j, tile::block_columns);
    extent p = 0;
    do {
      extent const depth = std::min(step, k - p);
      pack_b<T>(depth, columns, {b.data + p * b.row + j * b.column, b.row, b.column}, packed);
      gemm_packed<T>(m, columns, depth, {a.data + p * a.column, a.row, a.column}, packed, c + j, c_row,
                     p > 0 ? product::add : mode, room);
      p += step;
    } while (p < k);
  }
}

}  // namespace tx::backends::cpu
