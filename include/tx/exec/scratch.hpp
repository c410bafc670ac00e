// Bytes of scratch a call needs: one formula for planner and backends.
#pragma once

#include <tx/exec/plan.hpp>

namespace tx::exec {

constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

// Rows of a product that are computed before their epilogue runs: what fits in a quarter megabyte, in multiples of 16.
constexpr std::int64_t panel_rows(std::int64_t rows, std::int64_t cols, std::int64_t element) {
  std::int64_t panel = (std::int64_t{256} << 10) / (cols * element) / 16 * 16;
  if (panel < 16) panel = 16;
  if (panel > 256) panel = 256;
  return panel < rows ? panel : rows;
}

// One row of a share's scratch: whole vectors of the widest kind, 16 elements.
constexpr std::int64_t row_bytes(std::int64_t cols, std::int64_t element) { return (cols + 15) / 16 * 16 * element; }
// Stashed rows of one share, then its partial sums.
constexpr std::int64_t row_scratch(row_buffers const& p, std::int64_t cols) {
  return (p.stashes + p.column_sums) * row_bytes(cols, p.element) + (p.row_sums > 0 ? aligned(p.row_sums * p.element) : 0);
}

// Bytes beside the stashes for products of `batch` matrices [rows, depth] x [depth, cols]: the right side packed (whole where
// there is one, for each share where there are many), and for each share a block of the left side and a panel of results.
// Widths are rounded up to 64 elements, the widest tile a backend may use.
constexpr std::int64_t packed_bytes(std::int64_t cols, std::int64_t depth, std::int64_t element) {
  return aligned((cols + 63) / 64 * 64 * depth * element);
}
inline constexpr std::int64_t largest_left_block = std::int64_t{576} << 10;
constexpr std::int64_t left_bytes(std::int64_t rows, std::int64_t cols, std::int64_t depth, std::int64_t element) {
  std::int64_t const all = aligned((panel_rows(rows, cols, element) + 8) * depth * element + 64);
  return all < largest_left_block ? all : largest_left_block;
}
constexpr std::int64_t gemm_scratch(std::int64_t batch, std::int64_t rows, std::int64_t cols, std::int64_t depth, std::int64_t element) {
  std::int64_t const panel = aligned(panel_rows(rows, cols, element) * cols * element);
  return shares * (left_bytes(rows, cols, depth, element) + panel) + (batch > 1 ? shares : 1) * packed_bytes(cols, depth, element);
}

}  // namespace tx::exec
