// How the CPU backend cuts work, and what it keeps meanwhile: one formula for the planner and for kernels.
#pragma once

#include <tx/backends/cpu/attention_choice.hpp>
#include <tx/backends/cpu/shares.hpp>
#include <tx/backends/cpu/matrix_unit.hpp>
#include <tx/plan/target.hpp>

namespace tx::backends::cpu {

using exec::aligned, exec::call, exec::operand_ref;

// Rows of a product that are computed before their epilogue runs: what fits in a quarter megabyte, in multiples of 12, 24 at least.
constexpr std::int64_t panel_rows(std::int64_t rows, std::int64_t cols, std::int64_t element) {
  std::int64_t panel = cols == 0 ? rows : (std::int64_t{256} << 10) / (cols * element) / 12 * 12;
  if (panel < 24) panel = 24;
  if (panel > 192) panel = 192;
  return panel < rows ? panel : rows;
}

// If there are fewer columns, a panel has more rows. This bounds its bytes for up to so many of both.
constexpr std::int64_t most_panel_bytes(std::int64_t rows, std::int64_t cols, std::int64_t element) {
  std::int64_t const quarter = std::int64_t{256} << 10, few = 24 * cols * element, all = rows * cols * element;
  std::int64_t const most = few > quarter ? few : quarter;
  return most < all ? most : all;
}

// Elements of the widest vectors.
inline constexpr std::int64_t widest_vector = 16;
// One row of a share's scratch: whole vectors.
constexpr std::int64_t scratch_row(std::int64_t cols, std::int64_t element) { return (cols + widest_vector - 1) / widest_vector * widest_vector * element; }
// Stashed rows of one share, then its partial sums.
constexpr std::int64_t row_scratch(exec::row_buffers const& p, std::int64_t cols) {
  return (p.stashes + p.column_sums) * scratch_row(cols, p.element) + (p.row_sums > 0 ? aligned(p.row_sums * p.element) : 0);
}

// A side of a product is packed unless its rows can be read as they lie. Halves are multiplied in pairs along the depth: on the left
// those lie together if a row has an even number of them, on the right never.
constexpr bool packs_left(call const& c, operand_ref const& left) {
  bool const odd = c.depth % 2 != 0 || left.row % 2 != 0;
  return (left.col != 1 && c.depth != 1) || (is_half(left.type) && odd);
}
constexpr bool must_pack_right(operand_ref const& right, std::int64_t cols) { return (right.col != 1 && cols != 1) || is_half(right.type); }
// A batch whose number is bounded is one, also where it is of one matrix in a run.
constexpr bool is_one_matrix(call const& c) { return c.batch == 1 && !c.of_batch; }
// Rows on the right that can be read as they lie are packed all the same where many rows of the left use them. Vectors of 256 bits read one or two
// cache lines of each row, which of rows at one stride fall into few sets of the first level: over a depth of 1,024 that is half the speed of
// packed rows (Zen 3; packing pays from 96 rows on). Vectors of 512 bits read more of a row at once: they lose as much from rows on that
// lie further apart than a first level fetches ahead, 2 KB (Intel 64 and IA-32 Architectures Optimization Reference Manual, data prefetching).
#if defined(__AVX512F__)
inline constexpr std::int64_t near_bytes = 2048, many_rows = 512;
#else
inline constexpr std::int64_t near_bytes = 256, many_rows = 96;
#endif
constexpr bool packs_right(call const& c, operand_ref const& right) {
  return must_pack_right(right, c.cols) ||
         (is_one_matrix(c) && c.cols > 64 && c.rows >= many_rows && right.row * size_of(right.type) > near_bytes);
}

// Few rows times a right side that would have to be packed are computed the other way round: some columns at a time, then turned.
inline constexpr std::int64_t most_swapped_rows = 192;
inline constexpr std::int64_t swapped_columns = 48;
constexpr bool swaps(call const& c, operand_ref const& left, operand_ref const& right, std::int64_t rows) {
  bool const pairs = !is_half(right.type) || right.col % 2 == 0;  // the depth is even where the left side is not packed
  return is_one_matrix(c) && must_pack_right(right, c.cols) && right.row == 1 && pairs && !packs_left(c, left) && rows <= most_swapped_rows &&
         2 * rows <= c.cols;
}

// Bytes of packed sides of one product, rounded up to the tiles a backend may use: their rows divide 48, their columns 64.
inline constexpr std::int64_t tile_rows_divide = 48, tile_columns_divide = 64;
constexpr std::int64_t packed_bytes(std::int64_t depth, dtype type) { return is_half(type) ? (depth + 1) / 2 * 4 : depth * size_of(type); }
constexpr std::int64_t packed_left_bytes(std::int64_t rows, std::int64_t depth, dtype type) {
  return aligned((rows + tile_rows_divide - 1) / tile_rows_divide * tile_rows_divide * packed_bytes(depth, type));
}
constexpr std::int64_t packed_right_bytes(std::int64_t cols, std::int64_t depth, dtype type) {
  return aligned((cols + tile_columns_divide - 1) / tile_columns_divide * tile_columns_divide * packed_bytes(depth, type));
}
// Bytes beside the stashes for products of c.batch matrices [rows, depth] x [depth, cols], as many as any run needs where extents or strides are
// bounded: sides packed (whole where there is one matrix, for each share where there are many), and for each share a panel of results.
constexpr std::int64_t product_scratch(call const& c, operand_ref const& left, operand_ref const& right) {
  dtype const type = left.type;
  bool const varies = c.of_rows || c.of_cols || c.of_depth || c.of_batch || left.varying != 0 || right.varying != 0;
  std::int64_t const element = size_of(sum_type(type));
  std::int64_t const few = c.rows < most_swapped_rows ? c.rows : most_swapped_rows;
  std::int64_t const swapped = packed_right_bytes(few, c.depth, type) + aligned(few * c.cols * element) + shares * swapped_columns * scratch_row(few, element);
  if (!varies && swaps(c, left, right, c.rows)) return swapped;
  std::int64_t const rows = c.rows / c.batch;
  std::int64_t panel = panel_rows(rows, c.cols, element) * c.cols * element;
  if (c.of_cols) panel = most_panel_bytes(rows, c.cols, element);
  bool const left_is_packed = packs_left(c, left) || (varies && is_half(type));  // an odd number of halves in some run
  std::int64_t const packed = (left_is_packed ? packed_left_bytes(rows, c.depth, type) : 0) +
                              (packs_right(c, right) ? packed_right_bytes(c.cols, c.depth, type) : 0);
  std::int64_t const whole = shares * aligned(panel) + (is_one_matrix(c) ? 1 : shares) * packed;
  bool const may_swap = varies && is_one_matrix(c) && must_pack_right(right, c.cols);  // bounded extents may be few rows
  return may_swap && swapped > whole ? swapped : whole;
}

}  // namespace tx::backends::cpu

namespace tx {

inline constexpr target cpu_target{
    .name = "cpu",
    .band_bytes = backends::cpu::band_bytes,
    .kernel = {},
    .whole_columns = backends::cpu::widest_vector,
    .row_scratch = [](exec::row_buffers const& kept, exec::call const& c) { return backends::cpu::shares * backends::cpu::row_scratch(kept, c.cols); },
    .product_scratch = [](exec::row_buffers const&, exec::call const& c, exec::operand_ref const& left, exec::operand_ref const& right) { return backends::cpu::product_scratch(c, left, right); },
    .runs_attention = backends::cpu::runs_attention,
    .whole_scratch = backends::cpu::whole_scratch,
};

}  // namespace tx
