// A product panel by panel: everything that does not depend on the epilogue, compiled once.
#pragma once

#include <tx/backends/cpu/gemm_kernel.hpp>
#include <tx/backends/cpu/parallel.hpp>
#include <tx/exec/frame.hpp>
#include <tx/exec/scratch.hpp>

namespace tx::backends::cpu {

// What the shares of one product have in common.
template <class T>
struct gemm_task {
  exec::frame const& f;
  exec::call const& c;
  exec::operand_ref const& left;
  exec::operand_ref const& right;
  exec::operand_ref const* straight;  // where rows go without an epilogue; null: there is one
  std::int64_t rows, panel, panels, items;
  std::int64_t packed_bytes, panel_bytes, left_bytes;
  std::byte* packed;
  std::byte* panel_scratch;
  std::byte* left_scratch;

  static_assert(detail::scratch_of_a<T>(1 << 20, 1 << 20) * static_cast<std::int64_t>(sizeof(T)) + 64 <= exec::largest_left_block);

  // epilogue_bytes: scratch of the epilogue of all shares, which comes first.
  __attribute__((noinline)) gemm_task(exec::frame const& frame, exec::call const& call, exec::operand_ref const* operands,
                                      exec::operand_ref const* out, std::int64_t epilogue_bytes)
      : f(frame), c(call), left(operands[0]), right(operands[1]), straight(out) {
    rows = f.matrix_rows(c);
    panel = exec::panel_rows(c.rows / c.batch, c.cols, sizeof(T));
    panels = (rows + panel - 1) / panel;
    items = panels * f.matrices(c);
    packed_bytes = exec::packed_bytes(c.cols, c.depth, sizeof(T));
    panel_bytes = exec::aligned(panel * c.cols * static_cast<std::int64_t>(sizeof(T)));
    left_bytes = exec::left_bytes(c.rows / c.batch, c.cols, c.depth, sizeof(T));
    packed = f.scratch(c) + epilogue_bytes;
    panel_scratch = packed + (c.batch > 1 ? exec::shares : 1) * packed_bytes;
    left_scratch = panel_scratch + exec::shares * panel_bytes;
    if (c.batch == 1) pack_right();
  }

  std::int64_t work() const { return f.rows(c) * c.cols * (c.depth / 16 + 1); }

 private:
  // One right side, packed once by all.
  void pack_right() const {
    constexpr std::int64_t width = gemm_tile<T>::columns;
    std::int64_t const tiles = (c.cols + width - 1) / width;
    T const* const b = f.at<T const>(right);
    for_shares(f.threads, c.cols * c.depth, [&](int s) {
      for (std::int64_t t = exec::share_begin(tiles, s); t < exec::share_begin(tiles, s + 1); ++t) {
        std::int64_t const j = t * width;
        pack_b<T>(c.depth, std::min(width, c.cols - j), {b + j * right.col, right.row, right.col}, reinterpret_cast<T*>(packed) + j * c.depth);
      }
    });
  }
};

// The panels of one share, one after the other.
template <class T>
class gemm_walk {
 public:
  // After next(): rows [row, row + count) of the product at `data`, `row_bytes` apart, unless `finished` says they are where they belong.
  std::int64_t row = 0, count = 0;
  std::byte const* data = nullptr;
  std::int64_t row_bytes = 0;
  bool finished = false;

  gemm_walk(gemm_task<T> const& task, int share)
      : t_(task),
        share_(share),
        item_(exec::share_begin(task.items, share)),
        end_(exec::share_begin(task.items, share + 1)),
        packed_matrix_(task.c.batch == 1 ? 0 : -1),
        mine_(reinterpret_cast<T*>(task.c.batch > 1 ? task.packed + share * task.packed_bytes : task.packed)) {}

  __attribute__((noinline)) bool next() {
    if (item_ == end_) return false;
    exec::call const& c = t_.c;
    std::int64_t const matrix = item_ / t_.panels;
    std::int64_t const first = item_ % t_.panels * t_.panel;
    ++item_;
    count = std::min(t_.panel, t_.rows - first);
    row = matrix * t_.rows + first;
    if (matrix != packed_matrix_) {
      pack_b<T>(c.depth, c.cols, {t_.f.template at<T const>(t_.right) + exec::row_offset(t_.right, matrix), t_.right.row, t_.right.col}, mine_);
      packed_matrix_ = matrix;
    }
    T* to = reinterpret_cast<T*>(t_.panel_scratch + share_ * t_.panel_bytes);
    std::int64_t to_row = c.cols;
    finished = t_.straight != nullptr && goes_straight(to, to_row);
    data = reinterpret_cast<std::byte const*>(to);
    row_bytes = to_row * static_cast<std::int64_t>(sizeof(T));
    T const* const a = t_.f.template at<T const>(t_.left) + exec::row_offset(t_.left, matrix) + first * t_.left.row;
    gemm_packed<T>(count, c.cols, c.depth, {a, t_.left.row, t_.left.col}, mine_, to, to_row, product::assign, t_.left_scratch + share_ * t_.left_bytes);
    return true;
  }

 private:
  // Only if the rows lie at one stride there.
  bool goes_straight(T*& to, std::int64_t& to_row) const {
    exec::operand_ref const& out = *t_.straight;
    if (out.type != dtype_v<T> || (t_.c.cols > 1 && out.col != 1)) return false;
    std::int64_t const start = exec::row_offset(out, row);
    std::int64_t const stride = count > 1 ? exec::row_offset(out, row + 1) - start : t_.c.cols;
    if (exec::row_offset(out, row + count - 1) != start + (count - 1) * stride) return false;
    to = t_.f.template at<T>(out) + start;
    to_row = stride;
    return true;
  }

  gemm_task<T> const& t_;
  int share_;
  std::int64_t item_, end_, packed_matrix_;
  T* mine_;
};

}  // namespace tx::backends::cpu
