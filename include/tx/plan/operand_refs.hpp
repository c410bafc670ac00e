// Makes, while compiling, the operand_ref of each operand of a call from where storage says that its value lies. Kernels turn it into a pointer in
// run/frame.hpp.
#pragma once

#include <tx/ops/constant.hpp>
#include <tx/ops/random.hpp>
#include <tx/passes/fuse.hpp>
#include <tx/plan/plan.hpp>

namespace tx::exec::detail {

using passes::level;
using passes::place_kind;

// Does a node see of input k, a slice of a leaf, that of the next iteration? What awaits such a collective is shown what that was begun with.
constexpr bool sees_next(graph const& g, node const& n, int k) { return n.op->fetches_next || (n.op->awaits && k == 1 && g[g.input(n, 0)].op->fetches_next); }

class operand_refs {
 public:
  // varying: the table to which numbers that depend on bounded extents are added. Those of an operand stand together, so one is finished before the
  // next is begun.
  constexpr operand_refs(graph const& g, passes::fusion const& f, vec<varying_number>& varying) : g_(g), f_(f), varying_(varying) {}

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
    r.first_varying = varying_.size();
    std::int64_t const size = size_of(r.type);
    r.offset = extra * size + noted(r, operand_field::offset, 0, l.at.offset * size);
    for (int k = 0; k < max_loops; ++k)
      if (l.step[k] != quantity{}) r.step[k] = noted(r, operand_field::step, k, l.step[k] * size);
    if (root.op == &input_info) {
      if (input_number(root.at) >= max_inputs) throw invalid("a program has at most 22 arguments. FIX: pass fewer, larger tensors");
      r.base = base_input + input_number(root.at);
    } else if (root.op == &parameter_info) {
      r.base = base_block;
      r.offset += parameter_first(root.at) * size;
    } else if (root.op == &block_info) {
      r.base = base_block + block_number(root.at);
      r.offset += block_first(root.at) * size;
    } else if (root.op == &scalar_info) {
      r.base = base_scalars;
      r.offset += scalar_number(root.at) * size;
    } else {
      r.base = base_arena;
      r.root = l.root;  // the buffer's offset is added when it is known
      if (f_.handed_on[l.root]) {
        passes::band_loop const& band = f_.bands[f_.groups[f_.group_of[l.root]].band];
        r.matrix = noted(r, operand_field::matrix, 0, proportional(matrix_bytes(l.root), band.of_matrix));
      }
    }
    return r;
  }

  // The axes that make up the row index: neighbours of one stride are one.
  constexpr void set_rows(operand_ref& r, shape const& dims, strided const& at, int axes) const {
    bool plain = dims.bounds == 0;
    for (int i = 0; i < axes; ++i) plain = plain && is_fixed(at.stride[i]);
    if (plain) return set_fixed_rows(r, dims, at, axes);
    quantity stride[max_rank] = {};
    bounded extent[max_rank] = {};
    for (int i = 0; i < axes; ++i) {
      if (dims.dim[i] == 1) continue;
      if (r.rank > 0 && stride[r.rank - 1] == at.stride[i] * dims.at(i)) {
        extent[r.rank - 1] = extent[r.rank - 1] * dims.at(i);
        stride[r.rank - 1] = at.stride[i];
      } else {
        extent[r.rank] = dims.at(i);
        stride[r.rank++] = at.stride[i];
      }
    }
    for (int i = 0; i < r.rank; ++i) {
      r.extent[i] = noted_extent(r, i, extent[i]);
      r.stride[i] = noted(r, operand_field::stride, i, stride[i]);
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
      if (last >= 0) r.col = noted(r, operand_field::col, 0, at.stride[last]);
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
    r.row = noted(r, operand_field::row, 0, at.stride[dims.rank - 2]);
    r.col = noted(r, operand_field::col, 0, at.stride[dims.rank - 1]);
    return r;
  }

  // What an op on whole operands sees, or writes.
  constexpr operand_ref whole(int id) const {
    if (!passes::lies_dense(g_, f_.where, id)) throw invalid("lower: a kernel of whole operands would see one that does not lie row by row");
    operand_ref r = start_of(id);
    set_extents(r, g_.info(id).dims);
    return r;
  }
  // The same of the next iteration of the loop at hand, of what lies in memory slice by slice.
  constexpr operand_ref whole_of_next(int id) const {
    operand_ref r = whole(id);
    int const region_id = g_[id].region, loop = g_.loops_around(region_id) - 1;
    if (loop < 0 || r.step[loop] == 0 || r.base == base_arena) throw invalid("lower: what is fetched for the next iteration is no slice of a leaf");
    r.next = {loop, g_.regions[region_id].iterations - 1, g_.regions[region_id].reversed};
    return r;
  }
  // Positions and random numbers, which are computed and not read; drawn: those that an op on whole operands draws itself.
  constexpr operand_ref position(node const& n) const {
    operand_ref r{};
    r.type = n.info.type;
    r.base = -1;
    r.first_varying = varying_.size();
    return r;
  }
  // The position along an axis that is not the last: (row / stride) % extent.
  constexpr void set_position(operand_ref& r, shape const& dims, int axis) const {
    r.rank = 1;
    r.extent[0] = noted_extent(r, 0, dims.at(axis));
    quantity stride = exactly(1);
    for (int i = axis + 1; i + 1 < dims.rank; ++i) stride = stride * dims.at(i);
    r.stride[0] = noted(r, operand_field::stride, 0, stride);
  }
  constexpr operand_ref random(node const& n) const {
    operand_ref r = position(n);
    r.random.stream = random_stream(n.at);
    r.random.shard = random_shard(n.at);
    shape const& dims = n.info.dims;
    factors const of_row = dims.rank > 1 ? dims.factors_at(dims.rank - 1) : factors{};  // elements of a bounded vector are rows
    std::int64_t rows = n.info.count() == 0 ? 0 : n.info.count() / dims.row_length();
    r.random.own = random_own_rows(n.at);
    r.random.all = random_all_rows(n.at);
    if (r.random.own > 0) rows = rows / r.random.own * r.random.all;
    r.random.planned_rows = static_cast<int>(rows);
    bool const in_parts = dims.bounds != 0 && !dims.is_bounded(0);  // a batch of up to so many texts is not cut into parts
    r.random.rows = static_cast<int>(in_parts ? noted(r, operand_field::random_rows, 0, proportional(rows, dims.count_factors() - of_row)) : rows);
    int runs = 1;
    for (int loop = n.region; loop != 0; loop = g_.regions[loop].parent) {
      if (g_.regions[loop].parts) {
        r.random.parts = g_.regions[loop].turn ? g_.regions[loop].turn.count : g_.regions[loop].iterations;
        r.random.in_parts = true;
        r.random.runs_in_part = runs;
      }
      runs *= g_.regions[loop].iterations;
      if (g_.regions[loop].of_ranks > 0) r.random.runs_in_portion = runs;
    }
    return r;
  }
  constexpr operand_ref drawn(int id) const {
    operand_ref r = random(g_[id]);
    set_extents(r, g_.info(id).dims);
    return r;
  }

 private:
  constexpr void set_fixed_rows(operand_ref& r, shape const& dims, strided const& at, int axes) const {
    for (int i = 0; i < axes; ++i) {
      auto const stride = static_cast<std::int64_t>(at.stride[i]);
      if (dims.dim[i] == 1) continue;
      if (r.rank > 0 && r.stride[r.rank - 1] == stride * dims.dim[i]) {
        r.extent[r.rank - 1] *= dims.dim[i];
        r.stride[r.rank - 1] = stride;
      } else {
        r.extent[r.rank] = dims.dim[i];
        r.stride[r.rank++] = stride;
      }
    }
  }
  constexpr void set_extents(operand_ref& r, shape const& dims) const {
    r.rank = dims.rank;
    for (int a = 0; a < dims.rank; ++a) r.extent[a] = dims.bounds == 0 ? dims.dim[a] : noted_extent(r, a, dims.at(a));
  }

  // A number at its most, which goes to the table if it may be less.
  constexpr std::int64_t noted(operand_ref& r, operand_field field, int axis, quantity q) const {
    if (is_fixed(q)) return static_cast<std::int64_t>(q);
    varying_.push_back({field, axis, q});
    ++r.varying;
    return most_of(q);
  }
  constexpr int noted_extent(operand_ref& r, int axis, bounded extent) const {
    if (extent.of) noted(r, operand_field::extent, axis, proportional(extent.max, extent.of));
    return extent.max;
  }

  graph const& g_;
  passes::fusion const& f_;
  vec<varying_number>& varying_;
};

}  // namespace tx::exec::detail
