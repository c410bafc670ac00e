// Products on the device: a block computes a tile of 64 x 64 results, a thread 4 x 4 of them, from slices of both sides in
// shared memory. Sums run over the depth in order. An epilogue that works element by element follows at once, on the tile in shared memory.
#pragma once

#include <tx/backends/cuda/row_task.hpp>
#include <tx/backends/cuda/target.hpp>

namespace tx::backends::cuda {

inline constexpr int tile_depth = 16;  // of a slice
inline constexpr int per_thread = 4;   // rows and columns of one thread
inline constexpr int tile_threads = (tile / per_thread) * (tile / per_thread);

// Without an epilogue: results go to memory as they are.
struct no_epilogue {
  struct arguments {};
};

template <dtype D, class Epilogue = no_epilogue>
struct product_task {
  using T = register_t<D>;
  static constexpr bool has_epilogue = !std::is_same_v<Epilogue, no_epilogue>;
  static constexpr std::int64_t side_bytes = 2 * tile_depth * (tile + 1) * sizeof(T);
  static constexpr std::int64_t tile_bytes = has_epilogue ? tile * tile * sizeof(register_t<sum_type(D)>) : 0;
  static constexpr std::int64_t shared_bytes = side_bytes > tile_bytes ? side_bytes : tile_bytes;

  struct arguments {
    place left, right, to;         // `to`: as an output of rows, columns side by side
    std::int64_t to_first = 0;     // row 0 of `to`
    std::int64_t rows = 0;         // of a matrix
    std::int64_t cols = 0;
    std::int64_t depth = 0;
    std::int64_t first_item = 0;   // items: tiles of 64 rows, matrix after matrix
    std::int64_t tiles = 0;        // of a matrix
    typename Epilogue::arguments epilogue{};
  };
  static_assert(sizeof(arguments) < most_arguments, "tx::cuda: a product's epilogue has more operands than a kernel may be given");

  // Block: a tile of a band.
  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    std::int64_t const tiles = (a.cols + tile - 1) / tile;
    std::int64_t const item = a.first_item + b.block() / tiles;
    std::int64_t const matrix = item / a.tiles;
    std::int64_t const row = item % a.tiles * tile;
    std::int64_t const col = b.block() % tiles * tile;
    T* const left = reinterpret_cast<T*>(b.shared());
    T* const right = left + tile_depth * (tile + 1);
    side const of_left{a.left.at, a.left.row_offset(matrix) + row * a.left.row, a.left.row, a.left.col, a.rows - row};
    side const of_right{a.right.at, a.right.row_offset(matrix) + col * a.right.col, a.right.col, a.right.row, a.cols - col};

    constexpr int stride = tile / per_thread;
    int const my_row = b.thread() / stride;
    int const my_col = b.thread() % stride;
    T sum[per_thread][per_thread] = {};
    for (std::int64_t k = 0; k < a.depth; k += tile_depth) {
      fetch(b, left, of_left, k, a.depth);
      fetch(b, right, of_right, k, a.depth);
      b.sync();
      for (int d = 0; d < tile_depth; ++d) {
        T x[per_thread], y[per_thread];
        for (int i = 0; i < per_thread; ++i) x[i] = left[d * (tile + 1) + my_row + i * stride];
        for (int j = 0; j < per_thread; ++j) y[j] = right[d * (tile + 1) + my_col + j * stride];
        for (int i = 0; i < per_thread; ++i)
          for (int j = 0; j < per_thread; ++j) sum[i][j] += x[i] * y[j];
      }
      b.sync();
    }
    if constexpr (has_epilogue) {
      auto* const results = reinterpret_cast<register_t<sum_type(D)>*>(b.shared());
      for (int i = 0; i < per_thread; ++i)
        for (int j = 0; j < per_thread; ++j) results[(my_row + i * stride) * tile + my_col + j * stride] = sum[i][j];
      b.sync();
      std::int64_t const first = matrix * a.rows + row, rows = a.rows - row < tile ? a.rows - row : tile;
      row_body<typename Epilogue::body, Block> on_tile(b, a.epilogue, b.shared(), first, col, col + tile < a.cols ? col + tile : a.cols, tile);
      on_tile.rows(first, first + rows, a.epilogue.teams);
      return;
    }
    for (int i = 0; i < per_thread; ++i) {
      std::int64_t const r = row + my_row + i * stride;
      if (r >= a.rows) continue;
      std::int64_t const to = a.to.row_offset(matrix * a.rows + r - a.to_first);
      for (int j = 0; j < per_thread; ++j) {
        std::int64_t const c = col + my_col + j * stride;
        if (c < a.cols) store<sum_type(D)>(a.to.at, to + c, sum[i][j]);
      }
    }
  }

 private:
  // A side of the product: `line` is a row of the left one or a column of the right one.
  struct side {
    std::byte const* at;
    std::int64_t start, line, depth;  // elements
    std::int64_t lines;
  };

  // A slice of 64 lines from depth k, zero beyond the edges; neighbouring threads read neighbouring elements if any do.
  template <class Block>
  static TX_DEVICE void fetch(Block& b, T* to, side const& s, std::int64_t k, std::int64_t depth) {
    bool const along = s.depth == 1;
    for (int i = b.thread(); i < tile * tile_depth; i += b.threads()) {
      int const line = along ? i / tile_depth : i % tile;
      int const d = along ? i % tile_depth : i / tile;
      bool const inside = line < s.lines && k + d < depth;
      to[d * (tile + 1) + line] = inside ? load<D>(s.at, s.start + line * s.line + (k + d) * s.depth) : T(0);
    }
  }
};

}  // namespace tx::backends::cuda
