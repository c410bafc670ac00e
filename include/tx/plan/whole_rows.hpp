// Do the rows of a kernel begin where a target reads and writes several of their columns at a time? Told of numbers that vary from run to run, too:
//   [B <= 32, S <= 512, 64], a stride of S x 64 elements: a multiple of 64 in every run
//   [B <= 32, S <= 512], a stride of S elements: of 1
#pragma once

#include <tx/plan/plan.hpp>
#include <tx/plan/signature.hpp>

namespace tx::exec {

// The greatest number that a quantity is a multiple of in every run; 0: it is 0.
constexpr std::int64_t whole_part(quantity q, bound_table const& bounds) {
  std::int64_t n = most_of(q);
  factors const of = factors_of(q);
  for (int t = 1; t <= max_tags; ++t)
    for (int k = 0; k < of.count(t) && bounds.most[t] > 0; ++k) n /= bounds.most[t];
  return n;
}

// varying: the table that holds the operand's. Of bytes.
constexpr bool rows_begin_whole(operand_ref const& r, vec<varying_number> const& varying, bound_table const& bounds, std::int64_t bytes) {
  std::int64_t const size = size_of(r.type);
  bool whole = r.offset % bytes == 0 && r.matrix % bytes == 0;
  for (int k = 0; k < max_loops; ++k) whole = whole && r.step[k] % bytes == 0;
  for (int k = 0; k < r.rank; ++k) whole = whole && r.stride[k] * size % bytes == 0;
  for (int k = r.first_varying; k < r.first_varying + r.varying; ++k) {
    varying_number const& v = varying[k];
    if (v.field == operand_field::extent) continue;
    whole = whole && whole_part(v.value, bounds) * (v.field == operand_field::stride ? size : 1) % bytes == 0;
  }
  return whole;
}
// Of all that a kernel reads and writes column by column; a draft has its signatures and operands.
template <class Draft>
constexpr bool rows_begin_whole(Draft const& d, vec<varying_number> const& varying, bound_table const& bounds, std::int64_t bytes) {
  if (bytes == 0) return true;
  for (int i = 0; i < d.ins.size(); ++i)
    if (d.ins[i].how == access::contiguous && !rows_begin_whole(d.in_refs[i], varying, bounds, bytes)) return false;
  for (int i = 0; i < d.outs.size(); ++i)
    if (d.outs[i].shape == form::map && !d.outs[i].per_row && !rows_begin_whole(d.out_refs[i], varying, bounds, bytes)) return false;
  return true;
}

// Do rows lie at one distance, forwards, that 32 bits have room for? Bytes.
constexpr bool rows_are_even(operand_ref const& r) {
  return r.rank == 0 || (r.rank == 1 && r.stride[0] >= 0 && r.stride[0] * size_of(r.type) < std::int64_t{1} << 32);
}

// What the kernel's type says of so many whole columns: their number where something is made of a whole row or column, all rows are even, and they are no more than the target has
// kernels for.
template <class Draft>
constexpr int known_columns(Draft const& d, std::int64_t cols, std::int64_t most) {
  if (cols > most || cols <= whole_columns) return whole_columns;
  bool made = false;
  for (int i = 0; i < d.lets.size(); ++i) made = made || d.lets[i].shape != form::map;
  for (int i = 0; i < d.ins.size(); ++i)
    if (access const how = d.ins[i].how; how == access::contiguous || how == access::strided || how == access::row) made = made && rows_are_even(d.in_refs[i]);
  for (int i = 0; i < d.outs.size(); ++i)
    if (d.outs[i].shape == form::map) made = made && rows_are_even(d.out_refs[i]);
  return made ? static_cast<int>(cols) : whole_columns;
}

}  // namespace tx::exec
