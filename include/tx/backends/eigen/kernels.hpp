// The kernels of the Eigen backend: its products, the CPU backend's epilogues and everything else.
#pragma once

#ifndef EIGEN_DONT_PARALLELIZE
#define EIGEN_DONT_PARALLELIZE
#endif
#if defined(__GNUC__) && !defined(__clang__)  // GCC 12 warns of its own header for AVX-512
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <Eigen/Core>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <tx/backends/cpu.hpp>

#include <algorithm>

namespace tx::backends::eigen {

using Eigen::Dynamic;
template <class T, int Order>
using matrix = Eigen::Matrix<T, Dynamic, Dynamic, Order>;
template <class T, int Order>
using view = Eigen::Map<matrix<T, Order> const, 0, Eigen::OuterStride<>>;

// use(view) of rows x cols elements; a side whose elements are neighbours in neither direction is copied.
template <class T, class Use>
void as_matrix(T const* data, std::int64_t rows, std::int64_t cols, std::int64_t row, std::int64_t col, Use const& use) {
  if (col == 1 || cols == 1) return use(view<T, Eigen::RowMajor>(data, rows, cols, Eigen::OuterStride<>(row)));
  if (row == 1 || rows == 1) return use(view<T, Eigen::ColMajor>(data, rows, cols, Eigen::OuterStride<>(col)));
  using strides = Eigen::Stride<Dynamic, Dynamic>;
  matrix<T, Eigen::RowMajor> const copy = Eigen::Map<matrix<T, Eigen::RowMajor> const, 0, strides>(data, rows, cols, strides(row, col));
  use(view<T, Eigen::RowMajor>(copy.data(), rows, cols, Eigen::OuterStride<>(cols)));
}

template <class Signature>
struct kernel;

template <class Signature>
  requires requires { sizeof(cpu::kernel<Signature>); }
struct kernel<Signature> : cpu::kernel<Signature> {};

// Panels of a share's rows, [count, depth] x [depth, cols], then their epilogue.
template <dtype D, class Epilogue>
  requires(D == dtype::f32 || D == dtype::f64)
struct kernel<exec::gemm<D, Epilogue>> {
  using T = element_t<D>;
  using body = cpu::row_body<Epilogue>;
  static constexpr int inputs = cpu::detail::row_types<Epilogue>::inputs;

  static void run(exec::frame const& f, exec::call const& c, exec::operand_ref const* operands) {
    cpu::row_operands const o{f, c, operands + 2, operands + 1 + inputs};
    std::int64_t const first = f.first_row(c), rows = f.end_row(c) - first, each = f.matrix_rows(c), depth = c.depth;
    std::int64_t const row_bytes = cpu::row_scratch(exec::row_sweeps_of<Epilogue>, c.cols);
    std::int64_t const panel = cpu::panel_rows(each, c.cols, sizeof(T)), tile = cpu::gemm_tile<T>::rows;  // rows are summed in shares of whole tiles, see row_share_begin
    bool const whole = cpu::swaps(c, operands[0], operands[1], each);  // then there is room for all rows, else for a panel of each share
    auto* const room = reinterpret_cast<T*>(f.scratch(c) + cpu::shares * row_bytes);
    cpu::for_shares(f.threads, rows * c.cols * (depth / 16 + 1), [&](int s) {
      std::byte* const sums = f.scratch(c) + s * row_bytes;
      body::clear_sums(sums, c.cols);
      std::int64_t const end = first + cpu::share_begin(rows, s + 1, tile);
      std::int64_t count = 0;
      for (std::int64_t row = first + cpu::share_begin(rows, s, tile); row < end; row += count) {
        count = std::min({panel, each - row % each, end - row});
        T* const to = room + (whole ? row : s * panel) * c.cols;
        T const* const left = f.at<T const>(operands[0]) + exec::row_offset(operands[0], row / each) + row % each * operands[0].row;
        T const* const right = f.at<T const>(operands[1]) + exec::row_offset(operands[1], row / each);
        as_matrix<T>(left, count, depth, operands[0].row, operands[0].col, [&](auto const& a) {
          as_matrix<T>(right, depth, c.cols, operands[1].row, operands[1].col,
                       [&](auto const& b) { Eigen::Map<matrix<T, Eigen::RowMajor>>(to, count, c.cols).noalias() = a * b; });
        });
        body epilogue(o, sums);
        epilogue.set_columns(0, c.cols);
        epilogue.run(row, row + count, reinterpret_cast<std::byte const*>(to), c.cols * static_cast<std::int64_t>(sizeof(T)));
      }
    });
    cpu::detail::add_shares<Epilogue>(o, f.scratch(c), row_bytes);
  }
};

}  // namespace tx::backends::eigen
