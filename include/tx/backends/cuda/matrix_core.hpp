// A tile of a product of halves on units for matrices: sums in f32, 128 x 128 of them, 64 x 64 a warp. Slices of both sides come to shared memory
// beside the arithmetic, two ahead of it. Sides may lie either way in memory: units are given what load_matrices turns.
#pragma once

#include <tx/backends/cuda/product_side.hpp>
#include <tx/backends/cuda/registers.hpp>

namespace tx::backends::cuda {

namespace detail {

inline constexpr int matrix_tile = 128;   // lines of a side
inline constexpr int matrix_slice = 64;   // of the depth
inline constexpr int matrix_threads = 128;
inline constexpr int chunk = 8;           // halves of 16 bytes
inline constexpr int slice_bytes = matrix_tile * matrix_slice * 2;

// How a slice of a side lies in shared memory: rows of chunks, those of a line if its elements lie side by side, else those of neighbouring lines. Chunks change
// places within a row by its number, so that eight rows' chunks of one place lie in different banks.
TX_DEVICE inline int chunk_at(int row, int row_bytes, int number) { return row * row_bytes + ((number ^ (row % 8)) * 16); }
inline constexpr int line_bytes = matrix_slice * 2, depth_bytes = matrix_tile * 2;  // of a row, for either way

// What one thread copies of a side: each slice, so many chunks.
class slice_copies {
 public:
  static constexpr int chunks = slice_bytes / 16 / matrix_threads;

  template <class Block>
  TX_DEVICE slice_copies(Block& b, product_side const& s, std::int64_t first)
      : along_(s.along()), wide_(s.wide), line_(s.line), depth_(s.depth) {
    int const t = b.thread();
    int const in_row = along_ ? line_bytes / 16 : depth_bytes / 16;  // chunks
    row_ = t / in_row;
    next_ = matrix_threads / in_row;
    beside_ = t % in_row * chunk;
    rows_left_ = s.lines - row_;
    beside_left_ = s.lines - beside_;
    from_ = s.at + 2 * (s.start + (along_ ? row_ * s.line + (first + beside_) * s.depth : (first + row_) * s.depth + beside_ * s.line));
    apart_ = 2 * next_ * (along_ ? s.line : s.depth);
    ahead_ = 2 * matrix_slice * s.depth;
    to_ = chunk_at(row_, along_ ? line_bytes : depth_bytes, t % in_row);
  }

  // The next slice, of which `left` elements of a line lie within the product: zero beyond the edges.
  template <class Block>
  TX_DEVICE void copy_next(Block& b, std::byte* slice, std::int64_t left) {
    std::int64_t const rows = along_ ? rows_left_ : left - row_;
    std::int64_t const elements = along_ ? left - beside_ : beside_left_;
    int const here = elements >= chunk ? chunk : elements > 0 ? static_cast<int>(elements) : 0;
    std::byte const* from = from_;
    TX_UNROLL
    for (int i = 0; i < chunks; ++i) {
      int const count = i * next_ < rows ? here : 0;
      std::byte* const to = slice + to_ + i * (slice_bytes / chunks);
      if (wide_) b.copy(to, from, 2 * count);
      else copy_elements(to, from, count);
      from += apart_;
    }
    from_ += ahead_;
  }

 private:
  TX_DEVICE void copy_elements(std::byte* to, std::byte const* from, int count) const {
    std::int64_t const step = along_ ? depth_ : line_;
    auto* const out = reinterpret_cast<std::uint16_t*>(to);
    for (int e = 0; e < chunk; ++e) out[e] = e < count ? reinterpret_cast<std::uint16_t const*>(from)[e * step] : std::uint16_t{0};
  }

  bool along_, wide_;
  std::int64_t line_, depth_;             // elements
  int row_ = 0, next_ = 0, beside_ = 0;   // the first chunk's row, rows from it to the next, and where in a row it begins
  std::int64_t rows_left_ = 0, beside_left_ = 0;
  std::byte const* from_ = nullptr;
  std::int64_t apart_ = 0, ahead_ = 0;    // bytes: from chunk to chunk, from slice to slice
  int to_ = 0;
};

// Where a lane finds its rows of a warp's 64 lines in a slice: 16 lines times 16 of the depth at a time.
class slice_rows {
 public:
  TX_DEVICE slice_rows(bool along, int first_line, int lane) : turned_(!along) {
    int const low = lane % 8;
    TX_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (along) {
        line_[i] = (first_line + 16 * i + lane % 16) * line_bytes;
        depth_[i] = ((2 * i + lane / 16) ^ low) * 16;
      } else {
        line_[i] = ((first_line / chunk + 2 * i + lane / 8 % 2) ^ low) * 16;
        depth_[i] = (16 * i + low + 8 * (lane / 16)) * depth_bytes;
      }
    }
  }
  template <class Block>
  TX_DEVICE matrices load(Block& b, std::byte const* slice, int line, int depth) const {
    return b.load_matrices(slice + line_[line] + depth_[depth], turned_);
  }

 private:
  bool turned_;
  int line_[4], depth_[4];  // bytes
};

}  // namespace detail

template <dtype D>
class matrix_core {
 public:
  static constexpr int tile = detail::matrix_tile, stride = tile + 8;
  static constexpr int threads = detail::matrix_threads;
  static constexpr int slice = detail::matrix_slice;
  static constexpr int stages = 3;
  static constexpr std::int64_t shared_bytes = stages * 2 * detail::slice_bytes;

  static constexpr int groups = 32;
  float sums[groups][4] = {};

  template <class Block>
  TX_DEVICE void multiply(Block& b, product_side const& of_left, product_side const& of_right, std::int64_t first, std::int64_t end) {
    int const w = b.thread() / warp, lane = b.thread() % warp;
    detail::slice_copies left(b, of_left, first), right(b, of_right, first);
    detail::slice_rows const rows(of_left.along(), w / 2 * 64, lane), cols(of_right.along(), w % 2 * 64, lane);
    auto const slices = static_cast<int>((end - first + slice - 1) / slice);
    auto const copy = [&](int s) {
      std::byte* const to = stage(b, s % stages);
      if (s < slices) {
        std::int64_t const left_over = end - first - std::int64_t{s} * slice;
        left.copy_next(b, to, left_over);
        right.copy_next(b, to + detail::slice_bytes, left_over);
      }
      b.end_copies();
    };
    for (int s = 0; s < stages - 1; ++s) copy(s);
    for (int s = 0; s < slices; ++s) {
      b.template wait_copies<stages - 2>();
      b.sync();
      copy(s + stages - 1);
      std::byte const* const here = stage(b, s % stages);
      TX_UNROLL
      for (int k = 0; k < slice / 16; ++k) add_slice(b, here, rows, cols, k);
    }
    b.template wait_copies<0>();
    b.sync();
  }

  // The tile, rows `stride` elements apart.
  template <class Block>
  TX_DEVICE void store_sums(Block& b, float* to) const {
    int const w = b.thread() / warp, lane = b.thread() % warp;
    float* const first = to + (w / 2 * 64 + lane / 4) * stride + w % 2 * 64 + lane % 4 * 2;
    TX_UNROLL
    for (int i = 0; i < 4; ++i) {
      TX_UNROLL
      for (int j = 0; j < 8; ++j) {
        TX_UNROLL
        for (int half = 0; half < 2; ++half) {
          columns<float, 2> const two{sums[i * 8 + j][2 * half], sums[i * 8 + j][2 * half + 1]};
          store_own(reinterpret_cast<std::byte*>(first + (16 * i + 8 * half) * stride + 8 * j), two);
        }
      }
    }
  }

 private:
  template <class Block>
  static TX_DEVICE std::byte* stage(Block& b, int s) {
    return b.shared() + s * 2 * detail::slice_bytes;
  }
  // Depth 16 k and on of the slice.
  template <class Block>
  TX_DEVICE void add_slice(Block& b, std::byte const* here, detail::slice_rows const& rows, detail::slice_rows const& cols, int k) {
    matrices left[4], right[4];
    TX_UNROLL
    for (int i = 0; i < 4; ++i) left[i] = rows.load(b, here, i, k);
    TX_UNROLL
    for (int j = 0; j < 4; ++j) right[j] = cols.load(b, here + detail::slice_bytes, j, k);
    TX_UNROLL
    for (int i = 0; i < 4; ++i) {
      TX_UNROLL
      for (int j = 0; j < 8; ++j) {
        b.template add_product<D>(sums[i * 8 + j], left[i], right[j / 2].part[j % 2], right[j / 2].part[2 + j % 2]);
      }
    }
  }
};

}  // namespace tx::backends::cuda
