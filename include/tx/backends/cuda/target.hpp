// How the device backend cuts work, and what it keeps in memory meanwhile: one formula for the planner and for kernels. Needs no
// compiler for devices, so that a program can be planned for them by any.
#pragma once

#include <tx/plan/target.hpp>

namespace tx::backends::cuda {

// Sums over columns are cut into this many, a block each, added in order: results do not depend on the device.
inline constexpr int shares = 16;
constexpr std::int64_t share_begin(std::int64_t n, int part) { return n * part / shares; }

// One row of a share's scratch: whole transactions of a warp, 32 elements.
constexpr std::int64_t scratch_row(std::int64_t cols, std::int64_t element) { return (cols + 31) / 32 * 32 * element; }
// Stashed rows of one share, where they are too long for shared memory, then its partial sums.
constexpr std::int64_t row_scratch(exec::row_buffers const& kept, std::int64_t cols) {
  return (kept.stashes + kept.column_sums) * scratch_row(cols, kept.element) + (kept.row_sums > 0 ? exec::aligned(kept.row_sums * kept.element) : 0);
}

inline constexpr int tile = 64;                     // rows and columns of a product that a block computes
inline constexpr std::int64_t tiles_at_once = 512;  // before their epilogue runs: some for each of a large device's 132 multiprocessors
// Rows of results of a product, in tiles of rows.
constexpr std::int64_t product_scratch(exec::call const& c, exec::operand_ref const& left, exec::operand_ref const&) {
  std::int64_t const rows = c.batch == 0 ? 0 : c.rows / c.batch;
  std::int64_t const in_tile = rows < tile ? rows : tile;
  std::int64_t const all = (rows + tile - 1) / tile * c.batch;
  std::int64_t const across = (c.cols + tile - 1) / tile;
  std::int64_t at_once = across > 0 ? (tiles_at_once + across - 1) / across : all;
  if (at_once > all) at_once = all;
  std::int64_t elements = at_once * in_tile * c.cols;
  if (c.of_cols) {  // fewer columns, and more rows at once, in some run
    std::int64_t const any = (tiles_at_once + across) * tile * in_tile, whole = all * in_tile * c.cols;
    elements = any < whole ? any : whole;
  }
  return exec::aligned(elements * size_of(sum_type(left.type)));
}

}  // namespace tx::backends::cuda

namespace tx {

inline constexpr target cuda_target{
    .name = "cuda",
    .band_bytes = std::int64_t{1} << 20,
    .kernel = {},
    .row_scratch = [](exec::row_buffers const& kept, std::int64_t cols) { return backends::cuda::shares * backends::cuda::row_scratch(kept, cols); },
    .product_scratch = backends::cuda::product_scratch,
};

}  // namespace tx
