// The sides of a product in the order its tiles read them.
#pragma once

#include <tx/backends/cpu/gemm_unit.hpp>

#include <algorithm>

namespace tx::backends::cpu {

namespace detail {

constexpr extent round_up(extent n, extent multiple) { return (n + multiple - 1) / multiple * multiple; }

// L vectors of L values, which become columns of what they were rows of: interleaving the first half of them with the second log2 L times is a
// transposition.
template <class V, int L>
TX_INLINE void transpose(V (&v)[L]) {
  V w[L];
  auto const interleave = []<int... I>(V a, V b, std::integer_sequence<int, I...>, auto second) {
    return V(__builtin_shufflevector(a.v, b.v, (I / 2 + I % 2 * L + second * (L / 2))...));
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
}
// L x L values, read by rows `row` apart, written by columns `to_row` apart.
template <class T>
TX_INLINE void transpose_square(T const* from, extent row, T* to, extent to_row) {
  constexpr int L = lanes_of<T>;
  using V = simd<T, L>;
  V v[L];
#pragma GCC unroll 16
  for (int i = 0; i < L; ++i) v[i] = V::load(from + i * row);
  transpose(v);
#pragma GCC unroll 16
  for (int i = 0; i < L; ++i) v[i].store(to + i * to_row);
}

// One panel of B: a row of `width` values for each step, the columns past n zero.
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

// A row in pairs: elements p and p + 1, the latter zero past the end.
template <class H>
TX_INLINE half_pair<H> pair_at(H const* p, extent apart, bool both) {
  return {{*p, both ? p[apart] : H{0}}};
}
// The same of halves: a step is two rows of B, pair by pair.
template <class H>
  requires(is_half(dtype_v<H>))
void pack_panel(extent k, extent n, extent width, matrix<H> b, half_pair<H>* out) {
  constexpr int L = product_of<H>::lanes;
  extent const pairs = k / 2;
  for (extent j = 0; j < width; j += L) {
    auto const count = static_cast<int>(std::min<extent>(L, n - j));
    auto const to = reinterpret_cast<i32*>(out + j);
    extent i = 0;
    if (b.column == 1 && count == L) {
      auto const row = [&](extent at) { return load_bits<L>(b.data + at * b.row + j); };
      for (; i < pairs; ++i) (row(2 * i) | row(2 * i + 1) << 16).store(to + i * width);
    } else if (b.row == 1 && b.column % 2 == 0 && count == L) {  // pairs lie together
      for (; i + L <= pairs; i += L)
        transpose_square(reinterpret_cast<i32 const*>(b.data + 2 * i + j * b.column), b.column / 2, to + i * width, width);
    }
    for (; 2 * i < k; ++i)
      for (int c = 0; c < L; ++c)
        out[i * width + j + c] = c < count ? pair_at(b.data + 2 * i * b.row + (j + c) * b.column, b.row, 2 * i + 1 < k) : half_pair<H>{};
  }
}

// m rows of A in groups of tile rows, step by step: what a tile reads next to each other. Where rows of A are columns in memory, groups
// are packed together that share cache lines.
template <class T>
inline constexpr int groups_of_a_line = (64 + gemm_tile<T>::rows * static_cast<int>(sizeof(T)) - 1) / (gemm_tile<T>::rows * static_cast<int>(sizeof(T)));

template <class T>
void pack_a(extent m, extent k, matrix<T> a, T* out) {
  constexpr int R = gemm_tile<T>::rows, G = groups_of_a_line<T>;
  extent const whole = a.row == 1 ? m / (G * R) * (G * R) : 0;
  for (extent p0 = 0; whole > 0 && p0 < k; p0 += 32)  // rows of memory that stay near while groups take their lines of them
    for (extent i = 0; i < whole; i += G * R)
      for (extent p = p0; p < std::min(k, p0 + 32); ++p) {
        __builtin_prefetch(a.data + i + (p + 32) * a.column, 0, 2);
        for (int g = 0; g < G; ++g) __builtin_memcpy(out + (i + g * R) * k + p * R, a.data + i + g * R + p * a.column, R * sizeof(T));
      }
  extent i = whole;
  out += whole * k;
  for (; i < m; i += R, out += R * k) {
    auto const from = a.data + i * a.row;
    auto const rows = std::min<extent>(R, m - i);
    for (extent p = 0; p < k; ++p)
      for (extent r = 0; r < rows; ++r) out[p * R + r] = from[p * a.column + r * a.row];
  }
}
template <class H>
  requires(is_half(dtype_v<H>) && !has_matrix_unit<H>)
void pack_a(extent m, extent k, matrix<H> a, half_pair<H>* out) {
  constexpr int R = gemm_tile<H>::rows, G = groups_of_a_line<H>;
  extent const steps = steps_of<H>(k);
  extent i = 0;
  if (a.row == 1)
    for (; i + G * R <= m; i += G * R, out += G * R * steps) {
      extent p = 0;
      for (; 2 * p + 1 < k; ++p)
        for (int g = 0; g < G; ++g) {
          H const* const from = a.data + i + g * R + 2 * p * a.column;
          half_pair<H>* const to = out + (g * steps + p) * R;
          for (int r = 0; r < R; ++r) to[r] = {{from[r], from[r + a.column]}};
        }
      if (2 * p < k)
        for (int r = 0; r < G * R; ++r) out[(r / R * steps + p) * R + r % R] = pair_at(a.data + i + r + 2 * p * a.column, a.column, false);
    }
  for (; i < m; i += R, out += R * steps) {
    auto const from = a.data + i * a.row;
    auto const rows = std::min<extent>(R, m - i);
    for (extent p = 0; 2 * p < k; ++p)
      for (extent r = 0; r < rows; ++r) out[p * R + r] = pair_at(from + 2 * p * a.column + r * a.row, a.column, 2 * p + 1 < k);
  }
}

// For a matrix unit: row by row.
template <class H>
  requires(has_matrix_unit<H>)
void pack_a(extent m, extent k, matrix<H> a, half_pair<H>* out) {
  constexpr int L = product_of<H>::lanes;
  extent const steps = steps_of<H>(k);
  for (extent i = 0; i < m; i += L) {
    extent p = 0;
    if (a.row == 1 && i + L <= m) {
      alignas(64) i32 pairs[L * L];
      auto const row = [&](extent at) { return load_bits<L>(a.data + i + at * a.column); };
      for (; 2 * (p + L) <= k; p += L) {
        for (int s = 0; s < L; ++s) (row(2 * (p + s)) | row(2 * (p + s) + 1) << 16).store(pairs + s * L);
        transpose_square(pairs, L, reinterpret_cast<i32*>(out + i * steps + p), steps);
      }
    }
    for (; 2 * p < k; ++p)
      for (extent r = i; r < std::min<extent>(m, i + L); ++r)
        out[r * steps + p] = pair_at(a.data + r * a.row + 2 * p * a.column, a.column, 2 * p + 1 < k);
  }
}

}  // namespace detail

// B (k x n) in the order the tiles read it: panels of tile columns, each step's row after the other; the last panel as
// many vectors wide as it needs. Aligned to 64 bytes it is read fastest.
template <class T>
__attribute__((noinline)) void pack_b(extent k, extent n, matrix<std::type_identity_t<T>> b, unit_t<T>* packed) {
  constexpr extent columns = gemm_tile<T>::columns;
  for (extent j = 0; j < n; j += columns) {
    extent const width = std::min(columns, detail::round_up(n - j, gemm_tile<T>::width));
    detail::pack_panel(k, n - j, width, matrix<T>{b.data + j * b.column, b.row, b.column}, packed + j * steps_of<T>(k));
  }
}

// Units that pack_a writes, rounded up to cache lines.
template <class T = f32>
constexpr extent packed_a_size(extent m, extent k) {
  return detail::round_up(detail::round_up(m, gemm_tile<T>::rows) * steps_of<T>(k), 64);
}

// Units that pack_b writes.
template <class T = f32>
constexpr std::size_t packed_b_size(extent k, extent n) {
  return static_cast<std::size_t>(steps_of<T>(k) * detail::round_up(n, gemm_tile<T>::width));
}

}  // namespace tx::backends::cpu
