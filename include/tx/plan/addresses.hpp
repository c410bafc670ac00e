// How kernels address what lies where storage was assigned.
#pragma once

#include <tx/ops/constant.hpp>
#include <tx/passes/fuse.hpp>
#include <tx/plan/plan.hpp>

namespace tx::exec::detail {

using passes::level;
using passes::place_kind;

class addresses {
 public:
  constexpr addresses(graph const& g, passes::fusion const& f) : g_(g), f_(f) {}

  // Bytes of a value's buffer, and of one matrix where there is a band at a time.
  constexpr std::int64_t matrix_bytes(int id) const {
    return f_.handed_on[id] ? g_.info(id).bytes() / f_.bands[f_.groups[f_.group_of[id]].band].matrices : 0;
  }
  constexpr std::int64_t buffer_bytes(int id) const {
    return f_.handed_on[id] ? matrix_bytes(id) * f_.bands[f_.groups[f_.group_of[id]].band].each : g_.info(id).bytes();
  }
  constexpr bool in_arena(int id) const { return passes::stored_in_arena(g_, f_, f_.where.of[id].root); }

  // Where the elements that a node shows begin, `extra` elements further on.
  constexpr operand_ref start_of(int id, std::int64_t extra = 0) const {
    passes::location const& l = f_.where.of[id];
    node const& root = g_[l.root];
    operand_ref r{};
    r.type = g_.info(id).type;
    std::int64_t const size = size_of(r.type);
    r.offset = (l.at.offset + extra) * size;
    for (int k = 0; k < max_loops; ++k) r.step[k] = l.step[k] * size;
    if (root.op == &input_info) {
      if (root.at.v[0] >= max_inputs) throw invalid("a program has at most 22 arguments. FIX: pass fewer, larger tensors");
      r.base = base_input + static_cast<int>(root.at.v[0]);
    } else if (root.op == &parameter_info) {
      r.base = base_block;
      r.offset += root.at.v[0] * size;
    } else if (root.op == &block_info) {
      r.base = base_block + static_cast<int>(root.at.v[0]);
      r.offset += root.at.v[1] * size;
    } else if (root.op == &scalar_info) {
      r.base = base_scalars;
      r.offset += root.at.v[0] * size;
    } else {
      r.base = base_arena;
      r.root = l.root;  // the buffer's offset is added when it is known
      r.matrix = matrix_bytes(l.root);
    }
    return r;
  }

  constexpr void set_rows(operand_ref& r, shape const& dims, strided const& at, int axes) const {
    for (int i = 0; i < axes; ++i) {
      if (dims.dim[i] == 1) continue;
      if (r.rank > 0 && r.stride[r.rank - 1] == at.stride[i] * dims.dim[i]) {
        r.extent[r.rank - 1] *= dims.dim[i];
        r.stride[r.rank - 1] = at.stride[i];
      } else {
        r.extent[r.rank] = dims.dim[i];
        r.stride[r.rank++] = at.stride[i];
      }
    }
  }

  // What a node shows, read or written by rows and columns; by_row: one element per row.
  constexpr operand_ref by_rows(int id, std::int64_t cols, bool by_row) const {
    operand_ref r = start_of(id);
    shape const& dims = g_.info(id).dims;
    strided const& at = f_.where.of[id].at;
    int last = dims.rank - 1;
    while (last >= 0 && dims.dim[last] == 1) --last;
    if (by_row || cols == 1) {
      set_rows(r, dims, at, dims.rank);
    } else {
      r.col = last >= 0 ? at.stride[last] : 0;
      set_rows(r, dims, at, last);
    }
    return r;
  }

  // A side of a product: rows of the index are the matrices.
  constexpr operand_ref matrices(int id) const {
    operand_ref r = start_of(id);
    shape const& dims = g_.info(id).dims;
    strided const& at = f_.where.of[id].at;
    set_rows(r, dims, at, dims.rank - 2);
    r.row = at.stride[dims.rank - 2];
    r.col = at.stride[dims.rank - 1];
    return r;
  }

  // What an op on whole operands sees, or writes.
  constexpr operand_ref whole(int id) const {
    if (!passes::lies_dense(g_, f_.where, id)) throw invalid("lower: a kernel of whole operands would see one that does not lie row by row");
    operand_ref r = start_of(id);
    set_extents(r, g_.info(id).dims);
    return r;
  }
  // Positions and random numbers, which are computed and not read; drawn: those that an op on whole operands draws itself.
  static constexpr operand_ref position(node const& n) {
    operand_ref r{};
    r.type = n.info.type;
    r.base = -1;
    return r;
  }
  constexpr operand_ref random(node const& n) const {
    operand_ref r = position(n);
    r.random.stream = static_cast<int>(n.at.v[0]);
    r.random.shard = static_cast<int>(n.at.v[1]);
    r.random.rows = n.info.count() == 0 ? 0 : static_cast<int>(n.info.count() / n.info.dims.row_length());
    int runs = 1;
    for (int loop = n.region; loop != 0; loop = g_.regions[loop].parent) {
      if (g_.regions[loop].parts) {
        r.random.parts = g_.regions[loop].iterations;
        r.random.part_loop = g_.loops_around(loop) - 1;
        r.random.runs_in_part = runs;
      }
      runs *= g_.regions[loop].iterations;
    }
    return r;
  }
  constexpr operand_ref drawn(int id) const {
    operand_ref r = random(g_[id]);
    set_extents(r, g_.info(id).dims);
    return r;
  }

 private:
  static constexpr void set_extents(operand_ref& r, shape const& dims) {
    r.rank = dims.rank;
    r.tag = dims.tag;
    for (int a = 0; a < dims.rank; ++a) r.extent[a] = dims.dim[a];
  }

  graph const& g_;
  passes::fusion const& f_;
};

}  // namespace tx::exec::detail
