// A tile of a product without units for matrices: f32, f64 and integers. A thread has 4 x 4 of 64 x 64 results; sums run over the depth in order.
#pragma once

#include <tx/backends/device/product_side.hpp>
#include <tx/backends/device/registers.hpp>

namespace tx::backends::device {

template <dtype D>
class scalar_core {
  using T = register_t<D>;
  static constexpr int per_thread = 4;  // rows and columns of one thread

 public:
  static constexpr int tile = 64, stride = tile;  // rows and columns of results; elements from one of their rows to the next
  static constexpr int threads = (tile / per_thread) * (tile / per_thread);
  static constexpr int slice = 16;  // of the depth, in shared memory at once
  static constexpr std::int64_t shared_bytes = 2 * slice * (tile + 1) * sizeof(T);

  static constexpr int groups = per_thread;
  T sums[groups][4] = {};

  template <class Block>
  TX_DEVICE void multiply(Block& b, product_side const& of_left, product_side const& of_right, std::int64_t first, std::int64_t end) {
    T* const left = reinterpret_cast<T*>(b.shared());
    T* const right = left + slice * (tile + 1);
    int const my_row = b.thread() / apart, my_col = b.thread() % apart;
    for (std::int64_t k = first; k < end; k += slice) {
      fetch(b, left, of_left, k, end);
      fetch(b, right, of_right, k, end);
      b.sync();
      for (int d = 0; d < slice; ++d) {
        T x[per_thread], y[per_thread];
        for (int i = 0; i < per_thread; ++i) x[i] = left[d * (tile + 1) + my_row + i * apart];
        for (int j = 0; j < per_thread; ++j) y[j] = right[d * (tile + 1) + my_col + j * apart];
        for (int i = 0; i < per_thread; ++i)
          for (int j = 0; j < per_thread; ++j) sums[i][j] += x[i] * y[j];
      }
      b.sync();
    }
  }

  // The tile, rows `stride` elements apart.
  template <class Block>
  TX_DEVICE void store_sums(Block& b, T* to) const {
    int const my_row = b.thread() / apart, my_col = b.thread() % apart;
    for (int i = 0; i < per_thread; ++i)
      for (int j = 0; j < per_thread; ++j) to[(my_row + i * apart) * stride + my_col + j * apart] = sums[i][j];
  }

 private:
  static constexpr int apart = tile / per_thread;

  // A slice from depth k, zero beyond the edges; neighbouring threads read neighbouring elements if any do.
  template <class Block>
  static TX_DEVICE void fetch(Block& b, T* to, product_side const& s, std::int64_t k, std::int64_t end) {
    for (int i = b.thread(); i < tile * slice; i += threads) {
      int const line = s.along() ? i / slice : i % tile;
      int const d = s.along() ? i % slice : i / tile;
      bool const inside = line < s.lines && k + d < end;
      to[d * (tile + 1) + line] = inside ? load<D>(s.at, s.start + line * s.line + (k + d) * s.depth) : T(0);
    }
  }
};

}  // namespace tx::backends::device
