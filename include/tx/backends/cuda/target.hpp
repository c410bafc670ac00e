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

inline constexpr int tile = 64;  // rows and columns of a product that a block computes
// All results of a product, in the type of its sums: its epilogue is a kernel of its own over them.
constexpr std::int64_t product_scratch(exec::call const& c, exec::operand_ref const& left, exec::operand_ref const&) {
  return exec::aligned(c.rows * c.cols * size_of(sum_type(left.type)));
}

}  // namespace tx::backends::cuda

namespace tx {

inline constexpr target cuda_target{
    .name = "cuda",
    .band_bytes = 0,  // a band would leave most multiprocessors idle, and what it saves fits no cache
    .kernel = {},
    .row_scratch = [](exec::row_buffers const& kept, std::int64_t cols) { return backends::cuda::shares * backends::cuda::row_scratch(kept, cols); },
    .product_scratch = backends::cuda::product_scratch,
    .rounds_ahead = true,
    .gathers_gradients = true,
};

}  // namespace tx
