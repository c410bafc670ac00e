// Products on the device: a block computes a tile of results, or a part of its sums along the depth. An epilogue that works element by element
// follows at once, on the tile in shared memory.
#pragma once

#include <tx/backends/device/matrix_core.hpp>
#include <tx/backends/device/row_task.hpp>
#include <tx/backends/device/scalar_core.hpp>
#include <tx/backends/device/target.hpp>
#include <tx/backends/device/wavefront_core.hpp>

namespace tx::backends::device {

// Without an epilogue: results go to memory as they are.
struct no_epilogue {
  struct arguments {};
};

template <dtype D, matrix_units Units>
struct core_of {
  using type = scalar_core<D>;
};
template <dtype D>
  requires(is_half(D))
struct core_of<D, matrix_units::of_warps> {
  using type = matrix_core<D>;
};
// Of f16 such units make zeros of what is smaller than 6e-5, operands and sums, on some processors (gfx90a): those are multiplied as floats.
template <>
struct core_of<dtype::bf16, matrix_units::of_wavefronts> {
  using type = wavefront_core<dtype::bf16>;
};

template <dtype D, matrix_units Units, class Epilogue = no_epilogue>
struct product_task {
  using core = typename core_of<D, Units>::type;
  using T = register_t<sum_type(D)>;
  static_assert(core::tile == tile_of(D, Units));
  static constexpr int tile = core::tile, threads = core::threads;
  static constexpr std::int64_t tile_bytes = tile * core::stride * sizeof(T);
  static constexpr std::int64_t shared_bytes = core::shared_bytes > tile_bytes ? core::shared_bytes : tile_bytes;

  struct arguments {
    place left, right, to;            // `to`: as an output of rows, columns side by side
    std::int64_t to_first = 0;        // row 0 of `to`
    std::int64_t rows = 0;            // of a matrix
    std::int64_t cols = 0;
    std::int64_t depth = 0;
    std::int64_t first_item = 0;      // items: tiles of rows, matrix after matrix
    std::int64_t tiles = 0;           // of a matrix
    int parts = 1;                    // of the depth, a block each
    std::byte* sums = nullptr;        // of all parts of all tiles, where there are several
    std::uint32_t* counters = nullptr;
    typename Epilogue::arguments epilogue{};
  };
  static_assert(sizeof(arguments) < most_arguments, "tx: a product's epilogue has more operands than a kernel may be given");

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    int const part = a.parts == 1 ? 0 : b.block() % a.parts, number = a.parts == 1 ? b.block() : b.block() / a.parts;
    std::int64_t const across = (a.cols + tile - 1) / tile;
    std::int64_t const item = a.first_item + number / across;
    std::int64_t const matrix = item / a.tiles;
    std::int64_t const row = item % a.tiles * tile, col = number % across * tile;
    product_side const of_left{a.left.at, a.left.row_offset(matrix) + row * a.left.row, a.left.row, a.left.col, a.rows - row, a.left.wide};
    product_side const of_right{a.right.at, a.right.row_offset(matrix) + col * a.right.col, a.right.col, a.right.row, a.cols - col, a.right.wide};
    std::int64_t const slices = (a.depth + core::slice - 1) / core::slice;
    std::int64_t const end = share_begin(slices, part + 1, a.parts) * core::slice;

    core c;
    c.multiply(b, of_left, of_right, share_begin(slices, part, a.parts) * core::slice, end < a.depth ? end : a.depth);
    if (a.parts > 1 && !add_parts(b, a, c, number, part)) return;
    T* const results = reinterpret_cast<T*>(b.shared());
    c.store_sums(b, results);
    b.sync();
    std::int64_t const first = matrix * a.rows + row, rows = a.rows - row < tile ? a.rows - row : tile;
    if constexpr (std::is_same_v<Epilogue, no_epilogue>) {
      store_tile(b, a, results, first, rows, col);
    } else {
      row_body<typename Epilogue::body, Block> on_tile(b, a.epilogue, b.shared(), first, col, col + tile < a.cols ? col + tile : a.cols, core::stride);
      on_tile.rows(first, first + rows, a.epilogue.teams);
    }
  }

 private:
  // Hands on the sums of this part; in the last block of a tile to come here they become those of all parts, added in order. Is it that one?
  template <class Block>
  static TX_DEVICE bool add_parts(Block& b, arguments const& a, core& c, int number, int part) {
    constexpr std::int64_t each = std::int64_t{core::groups} * threads * 4;  // numbers of one part
    T* const all = reinterpret_cast<T*>(a.sums) + number * a.parts * each + b.thread() * 4;
    TX_UNROLL
    for (int g = 0; g < core::groups; ++g)
      store_own(reinterpret_cast<std::byte*>(all + part * each + g * threads * 4), columns<T, 4>{c.sums[g][0], c.sums[g][1], c.sums[g][2], c.sums[g][3]});
    if (!b.last_of(a.counters + number, a.parts)) return false;
    // Of some groups at a time a part after the other: loads enough to wait for together, and little code.
    constexpr int together = 4;
    static_assert(core::groups % together == 0);
    TX_UNROLL
    for (int first = 0; first < core::groups; first += together) {
      columns<T, 4> sum[together] = {};
      TX_ROLLED
      for (int p = 0; p < a.parts; ++p) {
        columns<T, 4> more[together];
        TX_UNROLL
        for (int g = 0; g < together; ++g) more[g] = load_own<T, 4>(reinterpret_cast<std::byte const*>(all + p * each + (first + g) * threads * 4));
        TX_UNROLL
        for (int g = 0; g < together; ++g)
          for (int k = 0; k < 4; ++k) sum[g].x[k] = p == 0 ? more[g].x[k] : sum[g].x[k] + more[g].x[k];
      }
      TX_UNROLL
      for (int g = 0; g < together; ++g)
        for (int k = 0; k < 4; ++k) c.sums[first + g][k] = sum[g].x[k];
    }
    return true;
  }

  // A warp takes rows, a thread four columns at a time.
  template <class Block>
  static TX_DEVICE void store_tile(Block& b, arguments const& a, T const* results, std::int64_t first, std::int64_t rows, std::int64_t col) {
    std::int64_t const cols = a.cols - col < tile ? a.cols - col : tile;
    for (std::int64_t r = b.thread() / warp; r < rows; r += threads / warp) {
      std::byte* const to = a.to.at + (a.to.row_offset(first + r - a.to_first) + col) * static_cast<std::int64_t>(sizeof(T));
      for (int k = b.thread() % warp * 4; k < cols; k += warp * 4) {
        T const* const from = results + r * core::stride + k;
        if (k + 4 <= cols) store_columns<sum_type(D), 4>(to + k * static_cast<std::int64_t>(sizeof(T)), load_own<T, 4>(reinterpret_cast<std::byte const*>(from)), a.to.wide);
        else
          for (int i = 0; k + i < cols; ++i) store<sum_type(D)>(to, k + i, from[i]);
      }
    }
  }
};

}  // namespace tx::backends::device
