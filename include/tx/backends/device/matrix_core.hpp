// A tile of a product of halves on units for matrices: sums in f32, 128 x 128 of them, 64 x 64 a warp. Slices of both sides come to shared memory
// beside the arithmetic, two ahead of it. Sides may lie either way in memory: units are given what load_matrices turns.
#pragma once

#include <tx/backends/device/half_tile.hpp>
#include <tx/backends/device/product_side.hpp>
#include <tx/backends/device/registers.hpp>

namespace tx::backends::device {

namespace detail {

inline constexpr int matrix_tile = 128;   // lines of a side
inline constexpr int matrix_slice = 64;   // of the depth
inline constexpr int matrix_threads = 128;
inline constexpr int slice_bytes = matrix_tile * matrix_slice * 2;

// A slice of a side in shared memory: rows are its lines if their elements lie side by side, else what neighbouring lines have of one depth.
inline constexpr int line_bytes = matrix_slice * 2, depth_bytes = matrix_tile * 2;  // of a row, for either way

// What one thread copies of a side: of each slice so many chunks. Along: a line's elements lie side by side.
template <bool Along>
class slice_copies {
 public:
  static constexpr int chunks = slice_bytes / 16 / matrix_threads;

  template <class Block>
  TX_DEVICE slice_copies(Block& b, product_side const& s, std::int64_t first)
      : row_(b.thread() / in_row), beside_(b.thread() % in_row * chunk), step_(Along ? s.depth : s.line), lines_(s.lines < matrix_tile ? static_cast<int>(s.lines) : matrix_tile), wide_(s.wide) {
    from_ = s.at + 2 * (s.start + (Along ? row_ * s.line + (first + beside_) * s.depth : (first + row_) * s.depth + beside_ * s.line));
    apart_ = 2 * next * (Along ? s.line : s.depth);
    ahead_ = 2 * matrix_slice * s.depth;
    to_ = chunk_at(row_, row_bytes, b.thread() % in_row);
  }

  // The next slice, of which `left` elements of a line lie within the product: zero beyond the edges.
  template <class Block>
  TX_DEVICE void copy_next(Block& b, std::byte* slice, std::int64_t left) {
    int const deep = left < matrix_slice ? static_cast<int>(left) : matrix_slice;
    std::byte const* from = from_;
    if (wide_ && lines_ == matrix_tile && deep == matrix_slice) {
      TX_UNROLL
      for (int i = 0; i < chunks; ++i, from += apart_) b.copy(slice + to_ + i * (slice_bytes / chunks), from, 16);
    } else {
      int const rows = (Along ? lines_ : deep) - row_, elements = (Along ? deep : lines_) - beside_;
      int const here = elements >= chunk ? chunk : elements > 0 ? elements : 0;
      TX_ROLLED
      for (int i = 0; i < chunks; ++i, from += apart_) {
        int const count = i * next < rows ? here : 0;
        std::byte* const to = slice + to_ + i * (slice_bytes / chunks);
        if (wide_) b.copy(to, from, 2 * count);
        else copy_elements(to, from, count);
      }
    }
    from_ += ahead_;
  }

 private:
  static constexpr int row_bytes = Along ? line_bytes : depth_bytes;
  static constexpr int in_row = row_bytes / 16;             // chunks
  static constexpr int next = matrix_threads / in_row;      // rows from one chunk of a thread to the next

  TX_DEVICE void copy_elements(std::byte* to, std::byte const* from, int count) const {
    auto* const out = reinterpret_cast<std::uint16_t*>(to);
    TX_ROLLED
    for (int e = 0; e < chunk; ++e) out[e] = e < count ? reinterpret_cast<std::uint16_t const*>(from)[e * step_] : std::uint16_t{0};
  }

  int row_, beside_;             // of the first chunk, and where in the row it begins
  std::int64_t step_;            // elements from one of a chunk's to the next
  int lines_;                    // of the tile that there are
  bool wide_;
  std::byte const* from_ = nullptr;
  std::int64_t apart_ = 0, ahead_ = 0;  // bytes: from chunk to chunk, from slice to slice
  int to_ = 0;
};

}  // namespace detail

template <dtype D>
class matrix_core {
 public:
  static constexpr int tile = detail::matrix_tile, stride = tile + 8;
  static constexpr int threads = detail::matrix_threads;
  static constexpr int slice = detail::matrix_slice;
  static constexpr int stages = 3;
  static constexpr int stage_bytes = 2 * detail::slice_bytes;
  static constexpr std::int64_t shared_bytes = stages * stage_bytes;

  static constexpr int groups = 32;
  float sums[groups][4] = {};

  template <class Block>
  TX_DEVICE void multiply(Block& b, product_side const& left, product_side const& right, std::int64_t first, std::int64_t end) {
    if (left.along() && right.along()) multiply_as<true, true>(b, left, right, first, end);
    else if (left.along()) multiply_as<true, false>(b, left, right, first, end);
    else if (right.along()) multiply_as<false, true>(b, left, right, first, end);
    else multiply_as<false, false>(b, left, right, first, end);
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
        for (int lower = 0; lower < 2; ++lower) {
          columns<float, 2> const two{sums[i * 8 + j][2 * lower], sums[i * 8 + j][2 * lower + 1]};
          store_own(reinterpret_cast<std::byte*>(first + (16 * i + 8 * lower) * stride + 8 * j), two);
        }
      }
    }
  }

 private:
  // What a warp multiplies at once: 64 lines of each side, 16 deep.
  struct parts {
    matrices left[4], right[4];
  };

  // Slices are copied two ahead, into the room of the one that all warps are done with.
  template <bool LeftAlong, bool RightAlong, class Block>
  TX_DEVICE void multiply_as(Block& b, product_side const& of_left, product_side const& of_right, std::int64_t first, std::int64_t end) {
    constexpr int steps = slice / 16;
    int const w = b.thread() / warp, lane = b.thread() % warp;
    detail::slice_copies<LeftAlong> left(b, of_left, first);
    detail::slice_copies<RightAlong> right(b, of_right, first);
    tile_rows<LeftAlong, false, LeftAlong ? detail::line_bytes : detail::depth_bytes> const rows(w / 2 * 64, lane);
    tile_rows<RightAlong, true, RightAlong ? detail::line_bytes : detail::depth_bytes> const cols(w % 2 * 64, lane);
    auto const slices = static_cast<int>((end - first + slice - 1) / slice);
    std::int64_t ahead = end - first;  // of the depth, not copied yet
    int to = 0;                        // the stage that is copied next
    auto const copy = [&] {
      if (ahead > 0) {
        std::byte* const room = b.shared() + to;
        left.copy_next(b, room, ahead);
        right.copy_next(b, room + detail::slice_bytes, ahead);
        ahead -= slice;
        to = to == (stages - 1) * stage_bytes ? 0 : to + stage_bytes;
      }
      b.end_copies();
    };
    auto const load = [&](parts& p, std::byte const* from, int k) {
      TX_UNROLL
      for (int i = 0; i < 4; ++i) p.left[i] = rows.load(b, from, i, k);
      TX_UNROLL
      for (int j = 0; j < 4; ++j) p.right[j] = cols.load(b, from + detail::slice_bytes, j, k);
    };
    for (int s = 0; s < stages - 1; ++s) copy();
    std::byte const* here = b.shared();
    for (int s = 0; s < slices; ++s) {
      b.template wait_copies<stages - 2>();
      b.sync();
      copy();
      TX_UNROLL
      for (int k = 0; k < steps; ++k) {
        parts p;
        load(p, here, k);
        add(b, p);
      }
      here = here == b.shared() + (stages - 1) * stage_bytes ? b.shared() : here + stage_bytes;
    }
    b.sync();  // all slices have been waited for; their room is free
  }
  template <class Block>
  TX_DEVICE void add(Block& b, parts const& p) {
    TX_UNROLL
    for (int i = 0; i < 4; ++i) {
      TX_UNROLL
      for (int j = 0; j < 8; ++j) b.template add_product<D>(sums[i * 8 + j], p.left[i], p.right[j / 2].part[j % 2 * 2], p.right[j / 2].part[j % 2 * 2 + 1]);
    }
  }
};

}  // namespace tx::backends::device
