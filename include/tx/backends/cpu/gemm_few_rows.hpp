// Products of one to four rows, as a decoder that writes one token at a time has them. Tiles have a lane for each row there (gemm_swap.hpp) and leave
// most of them idle; here lanes are columns: squares of the right side are read as they lie, columns one behind the other, and turned in registers.
// Every element is the same chain of fmas as a tile's.
#pragma once

#include <tx/backends/cpu/gemm_pack.hpp>

namespace tx::backends::cpu {

inline constexpr std::int64_t most_few_rows = 4;

namespace detail {

// Some columns of C = A B: A [Rows, depth], B [depth, columns] with B.row == 1, C [Rows, columns].
template <class T, int Rows>
class few_rows {
  static constexpr int L = lanes_of<T>;
  using V = simd<T, L>;

 public:
  static void multiply(extent depth, extent columns, matrix<T> a, matrix<T> b, T* c, extent c_row) {
    for (extent j = 0; j < columns; j += L) {
      auto const n = static_cast<int>(std::min<extent>(L, columns - j));
      V sum[Rows]{};
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) sum[r] = V(T(0));
      T const* const at = b.data + j * b.column;
      extent i = 0;
      if (n == L)
        for (; i + L <= depth; i += L) add<true>(sum, a, i, at + i, b.column, L, L);
      for (; i < depth; i += L) add<false>(sum, a, i, at + i, b.column, n, static_cast<int>(std::min<extent>(L, depth - i)));
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) sum[r].store_n(c + r * c_row + j, n);
    }
  }

 private:
  // A square [L steps, L columns] at `from`, or `steps` of it and n columns.
  template <bool Whole>
  static TX_INLINE void add(V (&sum)[Rows], matrix<T> const& a, extent first, T const* from, extent apart, int n, int steps) {
    V v[L];
#pragma GCC unroll 16
    for (int k = 0; k < L; ++k) v[k] = Whole ? V::load(from + k * apart) : k < n ? V::load_n(from + k * apart, steps) : V(T(0));
    transpose(v);
#pragma GCC unroll 16
    for (int p = 0; p < L; ++p) {
      if (!Whole && p == steps) break;
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) sum[r] = fma(v[p], V(a.data[r * a.row + (first + p) * a.column]), sum[r]);
    }
  }
};

template <class T>
void multiply_few_rows(std::int64_t rows, extent depth, extent columns, matrix<T> a, matrix<T> b, T* c, extent c_row) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    ((rows == I + 1 ? few_rows<T, I + 1>::multiply(depth, columns, a, b, c, c_row) : void()), ...);
  }(std::make_integer_sequence<int, static_cast<int>(most_few_rows)>{});
}

}  // namespace detail

}  // namespace tx::backends::cpu
