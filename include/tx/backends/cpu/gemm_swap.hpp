// Products of few rows, as inference has them: C' = B' A' instead of C = A B. The large side, a weight, is then read as it lies and
// once; only the few rows of the left side are packed. Every element is the same chain of fmas either way.
#pragma once

#include <tx/backends/cpu/gemm_few_rows.hpp>
#include <tx/backends/cpu/gemm_walk.hpp>

namespace tx::backends::cpu {

template <class T>
class swapped_product {
 public:
  // Rows of C, `row_bytes` apart, once run() is done; `finished`: they are where they belong.
  std::byte const* data = nullptr;
  std::int64_t row_bytes = 0;
  bool finished = false;

  explicit swapped_product(gemm_task<T> const& task) : t_(task) {}

  __attribute__((noinline)) void run() {
    exec::call const& c = t_.c;
    if (t_.rows == 0) return;
    auto* to = reinterpret_cast<sum_t<T>*>(t_.panels);
    std::int64_t to_row = c.cols;
    finished = t_.goes_straight(0, t_.rows, to, to_row);
    data = reinterpret_cast<std::byte const*>(to);
    row_bytes = to_row * static_cast<std::int64_t>(sizeof(sum_t<T>));
    if constexpr (std::is_same_v<unit_t<T>, T>) {
      if (t_.rows <= most_few_rows) return multiply_few_rows(to, to_row);
    }
    auto* const packed = t_.packed_rows();
    pack_b<T>(t_.depth, t_.rows, {t_.f.template at<T const>(t_.left), t_.left.col, t_.left.row}, packed);
    std::int64_t const width = detail::round_up(t_.rows, gemm_tile<T>::width);
    for_shares(t_.f.threads, t_.work(), [&](int s) {
      auto* const across = reinterpret_cast<sum_t<T>*>(t_.panels + t_.swapped_bytes) + s * swapped_columns * width;
      for (std::int64_t first = share_column(s); first < share_column(s + 1); first += swapped_columns) {
        std::int64_t const count = std::min(swapped_columns, c.cols - first);
        T const* const weight = t_.f.template at<T const>(t_.right) + first * t_.right.col;
        detail::multiply<T>(count, t_.rows, t_.steps(), detail::in_rows<T>({weight, t_.right.col, t_.right.row}),
                            detail::right_packed<T>{packed, t_.steps(), t_.rows}, across, width, false, longest_);
        turn(across, width, count, to + first, to_row);
      }
    });
  }

 private:
  // See gemm_few_rows.hpp.
  void multiply_few_rows(T* to, std::int64_t to_row) const {
    matrix<T> const left{t_.f.template at<T const>(t_.left), t_.left.row, t_.left.col};
    T const* const right = t_.f.template at<T const>(t_.right);
    for_shares(t_.f.threads, t_.work(), [&](int s) {
      std::int64_t const first = share_column(s);
      detail::multiply_few_rows<T>(t_.rows, t_.depth, share_column(s + 1) - first, left, {right + first * t_.right.col, t_.right.row, t_.right.col}, to + first, to_row);
    });
  }

  // Where a share begins among the columns.
  std::int64_t share_column(int s) const {
    std::int64_t const pieces = (t_.c.cols + swapped_columns - 1) / swapped_columns;
    return std::min(t_.c.cols, share_begin(pieces, s) * swapped_columns);
  }

  // [count, rows] -> [rows, count]
  void turn(sum_t<T> const* from, std::int64_t width, std::int64_t count, sum_t<T>* to, std::int64_t to_row) const {
    constexpr std::int64_t L = gemm_tile<T>::width;
    for (std::int64_t i = 0; i < t_.rows; i += L)
      for (std::int64_t j = 0; j < count; j += L) {
        if (i + L <= t_.rows && j + L <= count) {
          detail::transpose_square(from + j * width + i, width, to + i * to_row + j, to_row);
          continue;
        }
        for (std::int64_t r = i; r < std::min(t_.rows, i + L); ++r)
          for (std::int64_t k = j; k < std::min(count, j + L); ++k) to[r * to_row + k] = from[k * width + r];
      }
  }

  static constexpr extent longest_ = 4 * gemm_tile<T>::depth;  // the right side is narrow, and the left one streams
  gemm_task<T> const& t_;
};

}  // namespace tx::backends::cpu
