// Products of matrices on one thread: C = A B or C += A B, for f32, f64 and halves (C is f32 then), whatever the strides of A and B.
//
//   gemm_block<f32>(m, n, k, {a, k, 1}, {b, n, 1}, c, n, product::assign, scratch);    // row-major A and B
//   gemm_block<f32>(m, n, k, {a, 1, m}, {b, 1, k}, c, n, product::add, scratch);       // both transposed
//
//   pack_b<f32>(k, n, {w, n, 1}, packed);                                              // once per weight
//   gemm_packed<f32>(m, n, k, {a, k, 1}, packed, c, n, product::assign, scratch);      // any number of row panels
//
// Every element of C is one chain of fmas, c = fma(a[i][k], b[k][j], c) for k = 0, 1, ..., K - 1, from 0 or from the
// old C (of halves: of products of pairs). No blocking, edge or tile changes that: a row has the same bits in any batch, with
// packed weights or not.
//
// The loops are those of K. Goto and R. van de Geijn, Anatomy of high-performance matrix multiplication (2008): B in
// panels of tile columns, A in blocks that stay in the second-level cache, and a tile of C that stays in registers.
#pragma once

#include <tx/backends/cpu/gemm_amx.hpp>
#include <tx/backends/cpu/gemm_pack.hpp>

#include <cstdint>
#include <utility>

namespace tx::backends::cpu {

enum class product { assign, add };

namespace detail {

// k in pieces of nearly equal length, none above `longest`.
constexpr extent piece(extent k, extent longest) {
  extent const pieces = std::max<extent>(1, (k + longest - 1) / longest);
  return std::max<extent>(1, (k + pieces - 1) / pieces);
}

// One tile: c[R][columns] = or += a b over some steps of the depth, R rows by NV vectors.
// Edge: only `last` columns of the last vector exist; nothing else is read or written.
// `ahead`: a cache line of it is fetched every step, for later tiles.
template <class T, int R, int NV, bool Edge>
__attribute__((noinline)) void tile(extent steps, matrix<unit_t<T>> a, unit_t<T> const* b, extent b_row, sum_t<T>* c, extent c_row, bool add,
                                    int last, unit_t<T> const* ahead, extent ahead_step) {
  using step = product_of<T>;
  using V = typename step::sums;
  using U = typename step::units;
  constexpr int L = step::lanes;
  V sum[R][NV];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < NV; ++v) {
      if (!add) sum[r][v] = V(sum_t<T>(0));
      else if (Edge && v == NV - 1) sum[r][v] = V::load_n(c + r * c_row + v * L, last);
      else sum[r][v] = V::load(c + r * c_row + v * L);
    }
  for (int r = 0; r < R; ++r)  // the next tile's C
    for (int v = 0; v < NV; ++v) __builtin_prefetch(c + (R + r) * c_row + v * L, 1, 3);
  unit_t<T> const* from[(R + 3) / 4];  // one pointer serves four rows: registers are few
#pragma GCC unroll 4
  for (int g = 0; 4 * g < R; ++g) from[g] = a.data + 4 * g * a.row;
  for (extent i = 0; i < steps; ++i) {
    U x[NV];
#pragma GCC unroll 16
    for (int v = 0; v < NV; ++v) x[v] = Edge && v == NV - 1 ? step::load_n(b + v * L, last) : step::load(b + v * L);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      U const y = step::broadcast(from[r / 4][r % 4 * a.row]);
#pragma GCC unroll 16
      for (int v = 0; v < NV; ++v) sum[r][v] = step::multiply_add(y, x[v], sum[r][v]);
    }
    __builtin_prefetch(ahead, 0, 2);
    ahead += ahead_step;
#pragma GCC unroll 4
    for (int g = 0; 4 * g < R; ++g) from[g] += a.column;
    b += b_row;
  }
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < NV; ++v) {
      if (Edge && v == NV - 1) sum[r][v].store_n(c + r * c_row + v * L, last);
      else sum[r][v].store(c + r * c_row + v * L);
    }
  }
}

template <class T>
using tile_function = void (*)(extent, matrix<unit_t<T>>, unit_t<T> const*, extent, sum_t<T>*, extent, bool, int, unit_t<T> const*, extent);

// Whole columns: all rows of a tile, 4, 2 or 1. At the right edge: all rows or one, a tile for each number of vectors. (Each tile
// costs compile time, and few products have rows left over.)
template <class T>
constexpr tile_function<T> inner_tile(int rows) {
  constexpr int V = gemm_tile<T>::vectors, R = gemm_tile<T>::register_rows;
  return rows == R ? tile<T, R, V, false> : rows == 4 ? tile<T, 4, V, false> : rows == 2 ? tile<T, 2, V, false> : tile<T, 1, V, false>;
}
constexpr int rows_at_once(extent left, int most, bool edge) {
  if (left >= most) return most;
  return edge || left == 1 ? 1 : left >= 4 ? 4 : 2;
}
template <class T, int R, int... V>
constexpr tile_function<T> edge_tile(int vectors, std::integer_sequence<int, V...>) {
  constexpr tile_function<T> table[] = {tile<T, R, V + 1, true>...};
  return table[vectors - 1];
}

// A as the tiles read it: step k of row r of a tile's rows at data + r row + k column, the next tile's rows `group` further on.
template <class T>
struct left_side {
  unit_t<T> const* data;
  extent row, column, group;
};
// Rows as they lie; pairs of halves need an even depth and rows an even number of elements apart.
template <class T>
constexpr left_side<T> in_rows(matrix<T> a) {
  constexpr int each = product_of<T>::elements, rows = gemm_tile<T>::register_rows;
  if constexpr (each == 1) return {a.data, a.row, a.column, rows * a.row};
  else return {reinterpret_cast<unit_t<T> const*>(a.data), a.row / each, 1, rows * a.row / each};
}
// Rows from `row` on, a multiple of tile rows, of what pack_a made of a matrix of so many steps.
template <class T>
constexpr left_side<T> packed_rows(unit_t<T> const* packed, extent steps, extent row = 0) {
  constexpr int rows = gemm_tile<T>::register_rows;
  if constexpr (has_matrix_unit<T>) return {packed + row * steps, steps, 1, rows * steps};
  else return {packed + row * steps, 1, rows, rows * steps};
}

// B as the tiles read it: as it lies, or as pack_b has packed it (columns from `first` on, a multiple of tile columns).
template <class T>
struct right_rows {
  T const* data;
  extent row;
  constexpr std::pair<T const*, extent> operator()(extent j, extent p) const { return {data + p * row + j, row}; }
};
template <class T>
struct right_packed {
  unit_t<T> const* data;
  extent steps, n;  // of all of B
  extent first = 0;
  constexpr std::pair<unit_t<T> const*, extent> operator()(extent j, extent p) const {
    extent const at = first + j;
    extent const width = std::min<extent>(gemm_tile<T>::columns, round_up(n - at, gemm_tile<T>::width));
    return {data + at * steps + p * width, width};
  }
};

// Tiles of C in vector registers.
template <class T>
struct vector_tiles {
  using tile = gemm_tile<T>;
  static constexpr int rows = tile::register_rows;
  // One vector of columns, as the few rows of an inference have when sides are swapped: more rows hide the latency of their fmas.
  static constexpr int narrow_rows = 2 * rows;
  static constexpr extent whole_steps = 1;

  static constexpr extent group(left_side<T> const& a) { return a.group; }
  static constexpr int rows_of(extent left, int columns, left_side<T> const& a) {
    if (columns <= tile::width && a.group == rows * a.row && left >= narrow_rows) return narrow_rows;
    return rows_at_once(left, rows, columns < tile::columns);
  }
  void run(int count, int columns, extent steps, matrix<unit_t<T>> a, unit_t<T> const* b, extent b_row, sum_t<T>* c, extent c_row, bool add,
           unit_t<T> const* ahead, extent ahead_step) const {
    constexpr std::make_integer_sequence<int, tile::vectors> widths{};
    int const vectors = (columns + tile::width - 1) / tile::width;
    auto const body = columns == tile::columns ? inner_tile<T>(count)
                      : count == narrow_rows   ? detail::tile<T, narrow_rows, 1, true>
                      : count == rows          ? edge_tile<T, rows>(vectors, widths)
                                               : edge_tile<T, 1>(vectors, widths);
    body(steps, a, b, b_row, c, c_row, add, columns - (vectors - 1) * tile::width, ahead, ahead_step);
  }
};

// The loops around the tile, over k steps, at most `longest` at a time. panel(j, p): where B's columns from j on start at step p, and
// how far apart its steps are.
template <class T, class Tiles, class Panel>
void multiply_by(Tiles&& tiles, extent m, extent n, extent k, left_side<T> a, Panel panel, sum_t<T>* c, extent c_row, bool add, extent longest) {
  using tile = gemm_tile<T>;
  constexpr int R = std::remove_cvref_t<Tiles>::rows;
  extent const group = tiles.group(a);
  extent const step = round_up(piece(k, longest), tiles.whole_steps);
  extent p = 0;
  do {  // once even where k is 0: C may have to be cleared
    extent const depth = std::min(step, k - p);
    for (extent i0 = 0; i0 < m; i0 += tile::block_rows) {
      extent const i1 = std::min(m, i0 + tile::block_rows);
      for (extent j = 0; j < n; j += tile::columns) {
        auto const [b, b_row] = panel(j, p);
        auto const columns = static_cast<int>(std::min<extent>(tile::columns, n - j));
        // The first tiles fetch the next panel, one line a step.
        auto const next = panel(j + columns < n ? j + columns : 0, p).first;
        bool const packed = b_row <= tile::columns;
        extent const ahead_step = packed ? 64 / tile::size : b_row;
        extent const ahead_tile = packed ? depth * ahead_step : 64 / tile::size;
        extent const ahead_end = packed ? depth * b_row : columns;
        extent fetched = 0;
        matrix<unit_t<T>> at{a.data + i0 / R * group + p * a.column, a.row, a.column};
        int rows = 0;
        for (extent i = i0; i < i1; i += rows, at.data += rows == R ? group : rows * a.row) {
          rows = tiles.rows_of(i1 - i, columns, a);
          bool const more = fetched < ahead_end;
          auto ahead = more ? next + fetched : b;
          auto ahead_by = more ? ahead_step : 0;
          if (n <= tile::columns && a.column == 1) {  // nothing but rows to come
            ahead = at.data + rows * a.row;
            ahead_by = rows;
          }
          fetched += ahead_tile;
          tiles.run(rows, columns, depth, at, b, b_row, c + i * c_row + j, c_row, add || p > 0, ahead, ahead_by);
        }
      }
    }
    p += step;
  } while (p < k);
}
template <class T, class Panel>
void multiply(extent m, extent n, extent k, left_side<T> a, Panel panel, sum_t<T>* c, extent c_row, bool add, extent longest = gemm_tile<T>::depth) {
#if TX_HAS_AMX
  if constexpr (has_matrix_unit<T>)
    if (matrix_unit_permitted()) return multiply_by<T>(matrix_tiles{}, m, n, k, a, panel, c, c_row, add, longest);
#endif
  multiply_by<T>(vector_tiles<T>{}, m, n, k, a, panel, c, c_row, add, longest);
}

template <class T>
T* align(void* p) {
  return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(p) + 63) / 64 * 64);
}

}  // namespace detail

// Bytes of scratch for gemm_block and gemm_packed, whatever the strides; of any alignment.
template <class T = f32>
constexpr std::size_t gemm_scratch_bytes(extent m, extent n, extent k) {
  return (static_cast<std::size_t>(packed_a_size<T>(m, k)) + packed_b_size<T>(k, n)) * sizeof(unit_t<T>) + 64;
}

// A, packed into `room` unless its rows can be read as they lie.
template <class T>
detail::left_side<T> readable_left(extent m, extent k, matrix<std::type_identity_t<T>> a, unit_t<T>* room) {
  constexpr int each = detail::product_of<T>::elements;
  if (a.column == 1 && k % each == 0 && a.row % each == 0) return detail::in_rows<T>(a);
  detail::pack_a(m, k, a, room);
  return detail::packed_rows<T>(room, steps_of<T>(k));
}

// C (m x n, rows c_row apart) = or += A (m x k) B (k x n), B packed by pack_b.
template <class T>
void gemm_packed(extent m, extent n, extent k, matrix<std::type_identity_t<T>> a, unit_t<std::type_identity_t<T>> const* packed, sum_t<T>* c,
                 extent c_row, product mode, void* scratch) {
  auto const left = readable_left<T>(m, k, a, detail::align<unit_t<T>>(scratch));
  detail::multiply<T>(m, n, steps_of<T>(k), left, detail::right_packed<T>{packed, steps_of<T>(k), n}, c, c_row, mode == product::add);
}

// The same with B as it lies; it is packed where its rows cannot be read so.
template <class T>
void gemm_block(extent m, extent n, extent k, matrix<std::type_identity_t<T>> a, matrix<std::type_identity_t<T>> b,
                sum_t<T>* c, extent c_row, product mode, void* scratch) {
  auto const room = detail::align<unit_t<T>>(scratch);
  if constexpr (detail::product_of<T>::elements == 1)
    if (b.column == 1)
      return detail::multiply<T>(m, n, k, readable_left<T>(m, k, a, room), detail::right_rows<T>{b.data, b.row}, c, c_row, mode == product::add);
  auto* const packed = room + packed_a_size<T>(m, k);
  pack_b<T>(k, n, b, packed);
  gemm_packed<T>(m, n, k, a, packed, c, c_row, mode, scratch);
}

}  // namespace tx::backends::cpu
