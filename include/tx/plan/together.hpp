// Calls of one kernel that a device starts together, as one launch of all: those that read nothing another of them writes, wherever that lies. A later one moves
// up to the first, past calls that it shares no memory with in that way.
//
//   before   cast W, cast b, x = matmul(a, W), cast V, y = matmul(a, V)
//   after    {cast W, cast b, cast V}, {x = matmul(a, W), y = matmul(a, V)}
//
// Which kernels can be started so, and how many calls of them, says target::starts_together.
#pragma once

#include <tx/plan/lowered.hpp>

namespace tx::exec::detail {

// The bytes that an operand has: `pieces` of them, each `piece` long, `apart` from one to the next.
struct footprint {
  int base = -1;  // -1: none
  std::int64_t first = 0, piece = 0, pieces = 1, apart = 0;
  std::int64_t step[max_loops] = {};

  constexpr std::int64_t end() const { return first + (pieces - 1) * apart + piece; }
};

class calls_together {
 public:
  // Of a program that has been lowered from g. kept: by each kernel. scratch: bytes of each call.
  template <class Kept, class Scratch>
  constexpr calls_together(lowered& l, graph const& g, target const& to, Kept const& kept, Scratch const& scratch) : l_(l), g_(g) {
    if (to.starts_together == nullptr || l.bound_of.any()) return;  // what varies lies elsewhere in each run
    for (int c = 0; c < l.calls.size(); ++c) {
      kernel_sig const& k = l.kernels[l.calls[c].kernel];
      bool const by_rows = k.kind == kernel_kind::fused || k.kind == kernel_kind::gemm;
      most_.push_back(by_rows ? to.starts_together(k, kept(l.calls[c].kernel), l.calls[c]) : 1);
      scratch_.push_back(scratch(c));
    }
  }

  constexpr void find() {
    for (int r = 0; r < g_.regions.size() && !most_.empty(); ++r) {
      iterations_.clear();
      for (int k = g_.loops_around(r) - 1; k >= 0; --k) iterations_.push_back(g_.regions[around(r, k)].iterations);
      int const first = l_.loops[r].first, end = first + l_.loops[r].count;
      for (int i = first; i < end; ++i)
        if (is_call(i) && most_[call_at(i)] > 1) i += gather(i, end) - 1;
    }
  }

 private:
  // The loop so many levels further out.
  constexpr int around(int region_id, int levels) const {
    for (; levels > 0; --levels) region_id = g_.regions[region_id].parent;
    return region_id;
  }

  static constexpr int farthest = 48;  // so many calls further on

  constexpr bool is_call(int i) const { return l_.instructions[i].kind == instruction_kind::call; }
  constexpr int call_at(int i) const { return l_.instructions[i].index; }
  constexpr kernel_kind kind_of(int c) const { return l_.kernels[l_.calls[c].kernel].kind; }

  // How many calls start with the one at `i`, which stand behind it then.
  constexpr int gather(int i, int end) {
    int const most = most_[call_at(i)];
    int count = 1;
    for (int j = i + 1; j < end && j <= i + farthest && count < most && is_call(j) && kind_of(call_at(j)) != kernel_kind::collective; ++j) {
      if (l_.calls[call_at(j)].kernel != l_.calls[call_at(i)].kernel || most_[call_at(j)] <= count) continue;
      bool free = true;
      for (int k = i; k < j && free; ++k) free = !disturb(call_at(k), call_at(j));
      if (!free) continue;
      instruction const moved = l_.instructions[j];
      for (int k = j; k > i + count; --k) l_.instructions[k] = instruction{l_.instructions[k - 1]};
      l_.instructions[i + count++] = moved;
    }
    for (int k = 1; k < count; ++k) l_.instructions[i + k].together = 0;
    l_.instructions[i].together = count;
    return count;
  }

  // Does one of two calls write where the other one reads or writes? What both have for scratch alone is no matter: each is done with it, or has what they share.
  constexpr bool disturb(int a, int b) const {
    int const operands_a = l_.calls[a].operands, operands_b = l_.calls[b].operands;
    for (int i = -1; i < operands_a; ++i)
      for (int k = -1; k < operands_b; ++k)
        if (i + k > -2 && (is_written(a, i) || is_written(b, k)) && overlap(part_of(a, i), part_of(b, k))) return true;
    return false;
  }
  constexpr bool is_written(int c, int operand) const {
    kernel_sig const& k = l_.kernels[l_.calls[c].kernel];
    return operand < 0 || k.kind == kernel_kind::zero || operand >= l_.calls[c].operands - k.outs;
  }

  // Operand -1: a call's scratch.
  constexpr footprint part_of(int c, int operand) const {
    call const& of = l_.calls[c];
    footprint f{};
    if (operand < 0) {
      if (scratch_[c] > 0) f = {base_arena, of.scratch, scratch_[c]};
      return f;
    }
    operand_ref const& r = l_.operands[of.first + operand];
    if (r.base < 0) return f;
    f.base = r.base;
    f.first = r.offset;
    for (int k = 0; k < max_loops; ++k) f.step[k] = r.step[k];
    kernel_kind const kind = kind_of(c);
    std::int64_t const size = size_of(r.type);
    if (kind == kernel_kind::zero || kind == kernel_kind::whole) {
      f.piece = kind == kernel_kind::zero ? of.cols : elements_of(r) * size;
      return f;
    }
    std::int64_t last = 0, greatest = 0, times = 1;  // the last element; the axis whose elements are furthest apart
    bool rising = true;
    auto const along = [&](std::int64_t extent, std::int64_t stride) {
      rising = rising && stride >= 0;
      last += (extent > 1 ? extent - 1 : 0) * (stride < 0 ? -stride : stride);
      if (stride < 0) f.first += (extent - 1) * stride * size;
      if (stride > greatest && extent > 1) greatest = stride, times = extent;
    };
    for (int a = 0; a < r.rank; ++a) along(r.extent[a], r.stride[a]);
    if (is_column_sum(c, operand)) {
      along(of.cols, 1);
    } else if (kind == kernel_kind::gemm && operand < 2) {
      along(operand == 0 ? (of.batch > 0 ? of.rows / of.batch : 0) : of.depth, r.row);
      along(operand == 0 ? of.depth : of.cols, r.col);
    } else {
      along(of.cols, r.col);
    }
    f.piece = (last + 1) * size;
    if (!rising || greatest == 0 || last + 1 - (times - 1) * greatest > greatest) return f;
    f.piece -= (times - 1) * greatest * size;
    f.pieces = times;
    f.apart = greatest * size;
    return f;
  }

  // A sum over rows has no row of its own, but all columns.
  constexpr bool is_column_sum(int c, int operand) const {
    kernel_sig const& k = l_.kernels[l_.calls[c].kernel];
    int const out = operand - (l_.calls[c].operands - k.outs);
    return out >= 0 && l_.outs[k.first_out + out].shape == form::col_reduce && !l_.outs[k.first_out + out].per_row;
  }

  constexpr bool overlap(footprint const& a, footprint const& b) const {
    if (a.base < 0 || a.base != b.base) return false;
    bool same_steps = true;
    for (int k = 0; k < iterations_.size(); ++k) same_steps = same_steps && a.step[k] == b.step[k];
    if (!same_steps) return first_ever(a) < end_ever(b) && first_ever(b) < end_ever(a);
    if (a.first >= b.end() || b.first >= a.end()) return false;
    if (a.pieces == 1 || b.pieces == 1 || a.apart != b.apart) return true;
    std::int64_t const between = ((b.first - a.first) % a.apart + a.apart) % a.apart;  // from a piece of a to the next one of b
    return between < a.piece || a.apart - between < b.piece;
  }
  // In all iterations of the loops around.
  constexpr std::int64_t first_ever(footprint const& f) const {
    std::int64_t first = f.first;
    for (int k = 0; k < iterations_.size(); ++k)
      if (f.step[k] < 0) first += f.step[k] * (iterations_[k] - 1);
    return first;
  }
  constexpr std::int64_t end_ever(footprint const& f) const {
    std::int64_t end = f.end();
    for (int k = 0; k < iterations_.size(); ++k)
      if (f.step[k] > 0) end += f.step[k] * (iterations_[k] - 1);
    return end;
  }

  lowered& l_;
  graph const& g_;
  vec<int> iterations_{};  // of the loops around the calls at hand, outermost first
  vec<int> most_{};  // of each call: how many start with it
  vec<std::int64_t> scratch_{};
};

}  // namespace tx::exec::detail
