// Where values are stored and how kernels address them.
#pragma once

#include <tx/exec/plan.hpp>
#include <tx/ops/constant.hpp>
#include <tx/passes/fuse.hpp>

namespace tx::exec::detail {

using passes::level;
using passes::place_kind;

// In whose buffer a value lies.
struct location {
  int root = -1;            // the node whose buffer it is
  std::int64_t offset = 0;  // elements
  std::int64_t step = 0;    // elements per iteration
};

class addresses {
 public:
  constexpr addresses(graph const& g, passes::fusion const& f) : g_(g), f_(f) {}

  constexpr strided const& order_of(int id) const { return f_.order[id]; }

  constexpr location locate(int id) const {
    passes::placement const& p = f_.places[id];
    switch (p.kind) {
      case place_kind::carry:
      case place_kind::replace: return locate(p.target);
      case place_kind::slice: {
        location l = locate(p.target);
        l.step = g_.regions[g_[id].region].iterations == 1 ? 0 : g_.info(id).count();
        return l;
      }
      case place_kind::within: {
        location l = locate(p.target);
        l.offset += p.offset;
        return l;
      }
      default: return {id, 0, 0};
    }
  }

  // Bytes of a value's buffer, and of one matrix where there is a band at a time.
  constexpr std::int64_t matrix_bytes(int id) const {
    return f_.handed_on[id] ? g_.info(id).bytes() / f_.bands[f_.groups[f_.group_of[id]].band].matrices : 0;
  }
  constexpr std::int64_t buffer_bytes(int id) const {
    return f_.handed_on[id] ? matrix_bytes(id) * f_.bands[f_.groups[f_.group_of[id]].band].each : g_.info(id).bytes();
  }
  constexpr bool in_arena(int id) const { return passes::stored_in_arena(g_, f_, passes::storage_root(f_, id)); }

  constexpr operand_ref at_location(int base, std::int64_t extra, std::int64_t step, dtype type) const {
    operand_ref r{};
    r.type = type;
    location const l = locate(base);
    node const& root = g_[l.root];
    std::int64_t const size = size_of(type);
    r.offset = (l.offset + extra) * size;
    r.step = (l.step + step) * size;
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
      r.slot = l.root + 1;  // the buffer's offset is added when it is known
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

  // An operand read (or a result written) by rows and columns; by_row: one element per row.
  constexpr operand_ref by_rows(operand_ref r, shape const& dims, strided const& at, std::int64_t cols, bool by_row) const {
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

  constexpr operand_ref matrices(int operand) const {
    passes::view const& v = f_.physical[operand];
    shape const& dims = g_.info(operand).dims;
    operand_ref r = at_location(v.base, v.at.offset, v.step, g_.info(operand).type);
    set_rows(r, dims, v.at, dims.rank - 2);
    r.row = v.at.stride[dims.rank - 2];
    r.col = v.at.stride[dims.rank - 1];
    return r;
  }

 private:
  graph const& g_;
  passes::fusion const& f_;
};

}  // namespace tx::exec::detail
