// A product panel by panel: everything that does not depend on the epilogue, compiled once.
#pragma once

#include <tx/backends/cpu/gemm_kernel.hpp>
#include <tx/backends/cpu/parallel.hpp>
#include <tx/backends/cpu/target.hpp>
#include <tx/run/frame.hpp>

namespace tx::backends::cpu {

// What the shares of one product have in common. A side whose rows cannot be read as they lie is packed. Of one matrix the right side is
// packed once, by all threads, and the left by whoever computes a panel of rows, just before, so that it never leaves the caches; of many
// matrices both are packed by each thread for itself.
template <class T>
struct gemm_task {
  using U = unit_t<T>;
  using S = sum_t<T>;
  static_assert(tile_rows_divide % gemm_tile<T>::register_rows == 0 && tile_columns_divide % gemm_tile<T>::width == 0,
                "what the planner leaves for packed sides is too little");
  exec::frame const& f;
  exec::call const& c;
  exec::operand_ref const& left;
  exec::operand_ref const& right;
  exec::operand_ref const* straight;  // where rows go without an epilogue; null: there is one
  std::int64_t rows, depth, matrices;
  std::int64_t panel, block;          // rows and columns that are computed before their epilogue runs
  bool one_matrix;
  bool packs_left, packs_right;
  bool swaps;                         // see gemm_swap.hpp
  std::byte* packed;
  std::byte* panels;
  std::int64_t panel_bytes, left_bytes, packed_bytes, swapped_bytes;

  // by_columns: the epilogue may run on some columns. epilogue_bytes: its scratch of all shares, which comes first.
  __attribute__((noinline)) gemm_task(exec::frame const& frame, exec::call const& call, exec::operand_ref const* operands,
                                      exec::operand_ref const* out, bool by_columns, std::int64_t epilogue_bytes)
      : f(frame), c(call), left(operands[0]), right(operands[1]), straight(out) {
    using tile = gemm_tile<T>;
    rows = f.matrix_rows(c);
    depth = c.depth;
    matrices = f.matrices(c);
    packs_left = cpu::packs_left(c, left);
    packs_right = cpu::packs_right(c, right);
    one_matrix = is_one_matrix(c);
    std::int64_t const room = panel_rows(rows, c.cols, sizeof(S)) * c.cols;
    block = by_columns && c.cols > tile::block_columns ? tile::block_columns : std::max<std::int64_t>(1, c.cols);
    panel = std::max<std::int64_t>(room / block / tile::rows * tile::rows, std::clamp<std::int64_t>(room / block, 1, tile::rows));
    panel_bytes = exec::aligned(room * static_cast<std::int64_t>(sizeof(S)));
    left_bytes = packs_left ? packed_left_bytes(rows, c.depth, dtype_v<T>) : 0;
    packed_bytes = left_bytes + (packs_right ? packed_right_bytes(c.cols, c.depth, dtype_v<T>) : 0);
    packed = f.scratch(c) + epilogue_bytes;
    panels = packed + (one_matrix ? 1 : shares) * packed_bytes;
    swaps = cpu::swaps(c, left, right, rows);
    swapped_bytes = exec::aligned(rows * c.cols * static_cast<std::int64_t>(sizeof(S)));
    if (swaps) panels = packed + packed_right_bytes(rows, c.depth, dtype_v<T>);
    else if (one_matrix && packs_right) pack_right();
  }

  // Where rows [row, row + count) belong, if they lie at one stride there and nothing is done to them on the way.
  bool goes_straight(std::int64_t row, std::int64_t count, S*& to, std::int64_t& to_row) const {
    if (straight == nullptr || straight->type != dtype_v<S> || (c.cols > 1 && straight->col != 1)) return false;
    std::int64_t const start = exec::row_offset(*straight, row);
    std::int64_t const stride = count > 1 ? exec::row_offset(*straight, row + 1) - start : c.cols;
    if (exec::row_offset(*straight, row + count - 1) != start + (count - 1) * stride) return false;
    to = f.at<S>(*straight) + start;
    to_row = stride;
    return true;
  }

  extent steps() const { return steps_of<T>(depth); }
  std::int64_t work() const { return (f.end_row(c) - f.first_row(c)) * c.cols * (depth / 16 + 1); }

  // Shares that make a panel: whoever takes fewer at a time reads the right side more often.
  int shares_together() const {
    std::int64_t const each = share_offset(1);
    return each > 0 ? static_cast<int>(std::clamp<std::int64_t>(panel / each, 1, shares)) : 1;
  }

  // Where a share begins among the rows of all matrices. Packed rows are read in whole tiles.
  std::int64_t share_row(int s) const {
    return f.first_row(c) + share_offset(s);
  }
  std::int64_t share_offset(int s) const {
    if (matrices >= shares) return share_begin(matrices, s) * rows;
    std::int64_t const tiles = std::max<std::int64_t>(1, (rows + gemm_tile<T>::rows - 1) / gemm_tile<T>::rows);
    std::int64_t const at = share_begin(matrices * tiles, s);
    return at / tiles * rows + std::min(rows, at % tiles * gemm_tile<T>::rows);
  }

  U* packed_left(int slot) const { return reinterpret_cast<U*>(packed + (one_matrix ? 0 : slot) * packed_bytes); }
  U* packed_right(int slot) const { return reinterpret_cast<U*>(packed + (one_matrix ? 0 : slot) * packed_bytes + left_bytes); }
  U* packed_rows() const { return reinterpret_cast<U*>(packed); }  // of the left side, where sides are swapped

 private:
  void pack_right() const {
    constexpr std::int64_t width = gemm_tile<T>::columns;
    T const* const b = f.at<T const>(right);
    std::int64_t const tiles = (c.cols + width - 1) / width;
    for_shares(f.threads, c.cols * depth, [&](int s) {
      for (std::int64_t j = share_begin(tiles, s) * width; j < std::min(c.cols, share_begin(tiles, s + 1) * width); j += width)
        pack_b<T>(depth, std::min(width, c.cols - j), {b + j * right.col, right.row, right.col}, packed_right(0) + j * steps());
    });
  }
};

// The panels of the shares that a thread takes, one after the other, each in blocks of columns.
template <class T>
class gemm_walk {
 public:
  // After next(): rows [row, row + count), columns [column, end) of the product at `data`, `row_bytes` apart, unless `finished`
  // says they are where they belong.
  std::int64_t row = 0, count = 0, column = 0, end = 0;
  std::byte const* data = nullptr;
  std::int64_t row_bytes = 0;
  bool finished = false;

  // What is packed and computed on the way has the room of the first share that the thread has taken.
  gemm_walk(gemm_task<T> const& task, int first_share) : t_(task), slot_(first_share) {}

  // To the neighbouring shares that the thread has taken now.
  void enter(int first_share, int end_share) {
    row = t_.share_row(first_share);
    last_ = t_.share_row(end_share);
    count = end = 0;
    if (!t_.one_matrix) panel_slot_ = t_.packed_left(slot_);
    else if (room_ < t_.panel) {  // there is room for the rows of the shares taken, the others are somebody's
      panel_slot_ = t_.packed_left(0) + t_.share_offset(first_share) * t_.steps();
      room_ = last_ - row;
    }
  }

  __attribute__((noinline)) bool next() {
    exec::call const& c = t_.c;
    if (end == 0 || end == c.cols) {  // the next panel
      row += count;
      end = 0;
      if (row >= last_) return false;
      count = std::min({t_.panel, t_.rows - row % t_.rows, last_ - row});
    }
    column = end;
    end = std::min(c.cols, column + t_.block);
    std::int64_t const matrix = row / t_.rows;
    std::int64_t const first = row % t_.rows;
    if (!t_.one_matrix && matrix != packed_matrix_) pack(matrix);
    if (t_.one_matrix && column == 0 && t_.packs_left) pack_panel();
    auto* to = reinterpret_cast<sum_t<T>*>(t_.panels + slot_ * t_.panel_bytes);
    std::int64_t to_row = end - column;
    finished = t_.goes_straight(row, count, to, to_row);
    if (finished) to += column;
    data = reinterpret_cast<std::byte const*>(to);
    row_bytes = to_row * static_cast<std::int64_t>(sizeof(sum_t<T>));
    auto const left = t_.packs_left ? detail::packed_rows<T>(panel_slot_, t_.steps(), t_.one_matrix ? 0 : first)
                                    : detail::in_rows<T>({start(t_.left, matrix) + first * t_.left.row, t_.left.row, t_.left.col});
    std::int64_t const n = end - column;
    if (t_.packs_right)
      detail::multiply<T>(count, n, t_.steps(), left, detail::right_packed<T>{t_.packed_right(slot_), t_.steps(), c.cols, column}, to, to_row, false);
    else if constexpr (std::is_same_v<T, unit_t<T>>)
      detail::multiply<T>(count, n, t_.depth, left, detail::right_rows<T>{start(t_.right, matrix) + column, t_.right.row}, to, to_row, false);
    return true;
  }

 private:
  T const* start(exec::operand_ref const& r, std::int64_t matrix) const { return t_.f.template at<T const>(r) + exec::row_offset(r, matrix); }

  void pack(std::int64_t matrix) {
    exec::call const& c = t_.c;
    if (t_.packs_right) pack_b<T>(t_.depth, c.cols, {start(t_.right, matrix), t_.right.row, t_.right.col}, t_.packed_right(slot_));
    if (t_.packs_left) detail::pack_a(t_.rows, t_.depth, cpu::matrix<T>{start(t_.left, matrix), t_.left.row, t_.left.col}, panel_slot_);
    packed_matrix_ = matrix;
  }
  // Where rows that this walk has taken would be, were all of them packed: the others have room of their own.
  void pack_panel() { detail::pack_a(count, t_.depth, cpu::matrix<T>{start(t_.left, 0) + row * t_.left.row, t_.left.row, t_.left.col}, panel_slot_); }

  gemm_task<T> const& t_;
  int slot_;
  std::int64_t last_ = 0, room_ = 0, packed_matrix_ = -1;
  unit_t<T>* panel_slot_ = nullptr;  // for packed rows of the left
};

}  // namespace tx::backends::cpu
