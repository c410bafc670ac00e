// How the device backend cuts work, and what it keeps in memory meanwhile: one formula for the planner and for kernels. Needs no
// compiler for devices, so that a program can be planned for them by any.
#pragma once

#include <tx/plan/target.hpp>

namespace tx::backends::cuda {

// Sums over columns: rows are cut into shares, a block each. What they give is added in groups, then that of the groups: a tree that does not
// depend on the device.
inline constexpr int most_shares = 256, share_group = 16;
inline constexpr int rows_of_share = 8;  // at least
constexpr int shares_of(std::int64_t rows) {
  std::int64_t const shares = (rows + rows_of_share - 1) / rows_of_share;
  return static_cast<int>(shares < 1 ? 1 : shares < most_shares ? shares : most_shares);
}
constexpr std::int64_t share_begin(std::int64_t n, int part, int parts) { return n * part / parts; }

// One row of kept values: whole transactions of a warp, 32 elements.
constexpr std::int64_t kept_row(std::int64_t cols, std::int64_t element) { return (cols + 31) / 32 * 32 * element; }
// Sums of one share, or of a team's rows of it: full rows, then single numbers.
constexpr std::int64_t sum_bytes(exec::row_buffers const& kept, std::int64_t cols) {
  return kept.column_sums * kept_row(cols, kept.element) + (kept.row_sums > 0 ? exec::aligned(kept.row_sums * kept.element) : 0);
}
constexpr std::int64_t stash_bytes(exec::row_buffers const& kept, std::int64_t cols) { return kept.stashes * kept_row(cols, kept.element); }
constexpr bool sums_over_rows(exec::row_buffers const& kept) { return kept.column_sums + kept.row_sums > 0; }

inline constexpr std::int64_t most_shared = 48 << 10;   // bytes of a block, without asking the device for more
inline constexpr std::int64_t combine_bytes = 64;       // of them, what warps of a row tell each other
// Stashed rows that are too long for shared memory lie in scratch, one for each of so many blocks.
constexpr bool stash_fits(exec::row_buffers const& kept, std::int64_t cols) { return combine_bytes + stash_bytes(kept, cols) <= most_shared; }
constexpr int blocks_with_scratch(exec::row_buffers const& kept, std::int64_t rows) {
  if (sums_over_rows(kept)) return shares_of(rows);
  return static_cast<int>(rows < most_shares ? rows : most_shares);
}
// Scratch of one block, and of a call: beside its blocks' the sums of bands before this one.
constexpr std::int64_t block_scratch(exec::row_buffers const& kept, std::int64_t cols) {
  return (stash_fits(kept, cols) ? 0 : stash_bytes(kept, cols)) + sum_bytes(kept, cols);
}
constexpr std::int64_t row_scratch(exec::row_buffers const& kept, exec::call const& c) {
  return (blocks_with_scratch(kept, c.rows) + 1) * block_scratch(kept, c.cols);
}

inline constexpr int tile = 64;  // rows and columns of a product that a block computes
// An epilogue that works element by element runs on each tile where that is computed. Any other is a kernel of its own over all results, in
// the type of the product's sums.
constexpr std::int64_t product_scratch(exec::row_buffers const& kept, exec::call const& c, exec::operand_ref const& left, exec::operand_ref const&) {
  return kept.by_element ? 0 : exec::aligned(c.rows * c.cols * size_of(sum_type(left.type)));
}

}  // namespace tx::backends::cuda

namespace tx {

inline constexpr target cuda_target{
    .name = "cuda",
    .band_bytes = 0,  // a band would leave most multiprocessors idle, and what it saves fits no cache
    .kernel = {},
    .row_scratch = backends::cuda::row_scratch,
    .product_scratch = backends::cuda::product_scratch,
    .rounds_ahead = true,
    .gathers_gradients = true,
};

}  // namespace tx
