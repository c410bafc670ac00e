// How the device backend cuts work, and what it keeps in memory meanwhile: one formula for the planner and for kernels. Needs no
// compiler for devices, so that a program can be planned for them by any.
#pragma once

#include <tx/backends/device/attention_scratch.hpp>
#include <tx/ops/attention.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/plan/target.hpp>

namespace tx::backends::device {

// Blocks of a kernel count by these how many of them are done.
inline constexpr std::int64_t counter_words = 64 * 17;
// Columns that are a multiple of this are read and written several at a time (columns_at_once of row_types.hpp).
inline constexpr std::int64_t whole_columns = 16;
// Rows of up to so many may be held in registers by those that compute them (row_held.hpp).
inline constexpr std::int64_t most_held_columns = 4096;

// Sums over columns: rows are cut into shares, a block each. What they give is added in groups, then that of the groups: a tree that does not
// depend on the device.
inline constexpr int most_shares = 512, share_group = 16;
inline constexpr int rows_of_share = 8;  // at least
constexpr int shares_of(std::int64_t rows) {
  std::int64_t const shares = (rows + rows_of_share - 1) / rows_of_share;
  return static_cast<int>(shares < 1 ? 1 : shares < most_shares ? shares : most_shares);
}
constexpr std::int64_t share_begin(std::int64_t n, int share, int shares) { return n * share / shares; }

// One row of kept values: whole transactions of a warp, 32 elements.
constexpr std::int64_t kept_row(std::int64_t cols, std::int64_t element) { return (cols + 31) / 32 * 32 * element; }
// Sums of one share, or of a team's rows of it: full rows, then single numbers.
constexpr std::int64_t sum_bytes(exec::row_buffers const& kept, std::int64_t cols) {
  return kept.column_sums * kept_row(cols, kept.element) + (kept.row_sums > 0 ? exec::aligned(kept.row_sums * kept.element) : 0);
}
constexpr std::int64_t stash_bytes(exec::row_buffers const& kept, std::int64_t cols) { return kept.stashes * kept_row(cols, kept.element); }
constexpr bool sums_over_rows(exec::row_buffers const& kept) { return kept.column_sums + kept.row_sums > 0; }

inline constexpr std::int64_t most_shared = 48 << 10;   // bytes of a block, without asking the device for more
inline constexpr std::int64_t shared_of_warp = 7 << 10; // of a warp, so that a multiprocessor has room for 32
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

// What multiplies matrices of halves: units that a warp of 32 lanes shares, or a wavefront of 64, or none.
enum class matrix_units : std::uint8_t { none, of_warps, of_wavefronts };

// Rows and columns of a product that a block computes.
constexpr int tile_of(dtype d, matrix_units units) { return units == matrix_units::of_warps && is_half(d) ? 128 : 64; }
constexpr std::int64_t tiles_of(int tile, std::int64_t matrix_rows, std::int64_t cols, std::int64_t batch) {
  return batch * ((matrix_rows + tile - 1) / tile) * ((cols + tile - 1) / tile);
}

// Few tiles of a great depth are cut along it, so that there are blocks for the whole device: into so many parts, each with its sums in scratch,
// which the last one to end adds up in order. Estimated in steps of the depth: rounds of blocks, and what it takes to hand sums on. The number
// of blocks that run at once is that of one kind of device everywhere, so that results are the same.
inline constexpr int blocks_at_once = 264, most_parts = 16, part_depth = 256, step_of_sums = 250;
constexpr int depth_parts(std::int64_t tiles, std::int64_t depth) {
  if (tiles > counter_words || tiles < 1) return 1;
  int best = 1;
  std::int64_t least = (tiles + blocks_at_once - 1) / blocks_at_once * depth;
  for (int parts = 2; parts <= most_parts && depth / parts >= part_depth; ++parts) {
    std::int64_t const steps = (tiles * parts + blocks_at_once - 1) / blocks_at_once * (depth / parts + step_of_sums);
    if (steps >= least) continue;
    least = steps;
    best = parts;
  }
  return best;
}
// Sums of all parts of all tiles; with bounded extents, of any number of tiles up to so many.
constexpr std::int64_t parts_bytes(int tile, std::int64_t tiles, std::int64_t depth, bool varies, std::int64_t element) {
  std::int64_t most = depth_parts(tiles, depth) > 1 ? tiles * depth_parts(tiles, depth) : 0;
  if (varies)
    for (std::int64_t fewer = 1; fewer <= tiles && fewer <= counter_words; ++fewer)
      if (depth_parts(fewer, depth) > 1 && most < fewer * most_parts) most = fewer * most_parts;
  return most * tile * tile * element;
}

// An epilogue that works element by element runs on each tile where that is computed. Any other is a kernel of its own over all results, in
// the type of the product's sums.
constexpr std::int64_t results_bytes(exec::row_buffers const& kept, exec::call const& c, dtype d) {
  return kept.by_element ? 0 : exec::aligned(c.rows * c.cols * size_of(sum_type(d)));
}
template <matrix_units Units>
constexpr std::int64_t product_scratch(exec::row_buffers const& kept, exec::call const& c, exec::operand_ref const& left, exec::operand_ref const&) {
  bool const varies = c.of_rows != factors{} || c.of_cols != factors{} || c.of_depth != factors{} || c.of_batch != factors{};
  int const tile = tile_of(left.type, Units);
  std::int64_t const tiles = tiles_of(tile, c.batch > 0 ? c.rows / c.batch : 0, c.cols, c.batch);
  return results_bytes(kept, c, left.type) + parts_bytes(tile, tiles, c.depth, varies, size_of(sum_type(left.type)));
}

// Attention of halves is a kernel, with a bias of f32 or of the same halves; any other is written as products.
constexpr bool runs_attention(attention_shape const& s) { return is_half(s.type) && s.head <= 128 && s.head % 8 == 0 && (!s.bias || s.bias_type == dtype::f32 || s.bias_type == s.type); }
// The same as kernels have it of a run (whole_kernels.hpp), which has no more texts, queries and keys.
constexpr attention_scratch scratch_of_attention(attention_facts const& f, exec::operand_ref const* operands) {
  exec::operand_ref const &greatest = operands[2], &k = operands[5];
  return {greatest.extent[0], f.heads, greatest.extent[2], f.packed() ? f.longest_keys() : k.extent[1], f.dropout};
}
// Attention's gradient keeps a number of each query, and of each probability whether it is kept; that of a look-up a number of each place, and a row of sums.
constexpr std::int64_t whole_scratch(op_info const& op, exec::call const& c, exec::operand_ref const* operands) {
  if (is_attention_gradient(&op)) return scratch_of_attention(attention_facts_of(c.at), operands).bytes();
  if (&op != &scatter_rows_info) return 0;
  exec::operand_ref const &ids = operands[1], &to = operands[2];
  return exec::aligned(4 * exec::elements_of(ids)) + exec::aligned(exec::elements_of(ids) * to.extent[to.rank - 1] * size_of(to.type));
}

// Rows of single elements are started together whatever they are of; products, where a library takes them.
inline constexpr int most_together = 32;
constexpr int rows_together(exec::kernel_sig const& k, exec::row_buffers const& kept, exec::call const&) { return k.kind == exec::kernel_kind::fused && kept.by_element ? most_together : 1; }

// With a library of products. It takes single ones of floats that are worth a call; an epilogue follows as a kernel of its own over all results,
// which pays where the depth is great.
inline constexpr std::int64_t library_workspace = 32 << 20, workspace_alignment = 256;  // bytes of scratch, and what they begin at a multiple of (https://docs.nvidia.com/cuda/cublas/#cublasltmatmul)
inline constexpr std::int64_t library_depth = 512, library_flops = 1 << 24;
constexpr bool takes_product(dtype d, exec::call const& c) { return (is_storage_only(d) || d == dtype::f32) && c.batch == 1 && 2 * c.rows * c.cols * c.depth >= library_flops; }
constexpr bool epilogue_follows(dtype d, exec::call const& c) { return takes_product(d, c) && c.depth >= library_depth; }

constexpr bool ends_product(passes::product_shape const& p) {
  exec::call c{};
  c.batch = p.matrices;
  c.rows = p.matrices * p.rows;
  c.cols = p.cols;
  c.depth = p.depth;
  return epilogue_follows(p.type, c);
}

// Products of E4M3 that go to cuBLASLt in every run and fit its FP8 kernels: depth and columns are multiples of 16 (https://docs.nvidia.com/cuda/cublas/#cublasltmatmul). In a run with fewer
// rows, or where the device has no units for E4M3, they are products of tx's own, by floats.
constexpr bool multiplies_e4m3(passes::product_shape const& p) { return p.type == dtype::e4m3 && ends_product(p) && p.cols % 16 == 0 && p.depth % 16 == 0; }

template <matrix_units Units>
constexpr std::int64_t library_scratch(exec::row_buffers const& kept, exec::call const& c, exec::operand_ref const& left, exec::operand_ref const& right) {
  std::int64_t const own = product_scratch<Units>(kept, c, left, right);
  std::int64_t const with = exec::aligned(c.rows * c.cols * size_of(sum_type(left.type))) + library_workspace + workspace_alignment;
  exec::call one = c;
  if (c.of_batch != factors{}) one.batch = 1;  // a run may have a single matrix where more are planned for
  return takes_product(left.type, one) && with > own ? with : own;
}

constexpr int library_together(exec::kernel_sig const& k, exec::row_buffers const& kept, exec::call const& c) {
  if (k.kind != exec::kernel_kind::gemm) return rows_together(k, kept, c);
  return epilogue_follows(k.type, c) || (k.lets == 0 && takes_product(k.type, c)) ? most_together : 1;
}
// Of devices whose rows are started one by one.
constexpr int products_together(exec::kernel_sig const& k, exec::row_buffers const& kept, exec::call const& c) { return k.kind == exec::kernel_kind::gemm ? library_together(k, kept, c) : 1; }

// Of devices that multiply by these units, with kernels of tx's own. Without those of warps attention is written out as products, and rows are started one by one: what a kernel may be
// given there has not been measured.
template <matrix_units Units>
constexpr target with_own_kernels(char const* name) {
  constexpr bool warps = Units == matrix_units::of_warps;
  return {
      .name = name,
      .band_bytes = 0,  // a band would leave most multiprocessors idle, and what it saves fits no cache
      .kernel = {},
      .whole_columns = whole_columns,
      .row_scratch = row_scratch,
      .product_scratch = product_scratch<Units>,
      .runs_attention = warps ? runs_attention : nullptr,
      .whole_scratch = whole_scratch,
      .rounds_ahead = true,
      .gathers_gradients = true,
      .remakes = true,
      .starts_together = warps ? rows_together : nullptr,
      .known_columns = most_held_columns,
      .whole_bytes = 16,  // what a thread reads and writes at a time
      .has_own_memory = true,
      .counter_words = counter_words,
  };
}
// And by a library of products.
template <matrix_units Units>
constexpr target with_library(target t, char const* name) {
  t.name = name;
  t.kernel.ends_product = ends_product;
  t.product_scratch = library_scratch<Units>;
  t.makes_neighbours = true;
  t.starts_together = t.starts_together != nullptr ? library_together : products_together;
  return t;
}

// Are products planned as a device with those units computes them?
template <matrix_units Units>
constexpr bool is_for(target const& t) {
  return t.product_scratch == product_scratch<Units> || t.product_scratch == library_scratch<Units>;
}

}  // namespace tx::backends::device
