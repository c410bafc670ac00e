// What a run has of bounded extents, and what that makes of a plan's numbers. Arguments tell the extents (told_extents.hpp); run.hpp, and frame.hpp
// for loops over bands, resolve each call before its kernel runs.
#pragma once

#include <tx/plan/plan.hpp>

namespace tx::exec {

struct run_extents {
  bound_table bound_of{};     // what the program is planned for
  int now[max_tags + 1] = {};  // what this run has; -1 while arguments have not told it

  // A number that is `most` at the most: divided by the most of each of its factors, which leaves no rest, and multiplied by what there is.
  std::int64_t in_run(std::int64_t most, factors f) const {
    if (f.bits == 0) return most;
    for (int t = 1; t <= max_tags; ++t)
      for (int k = 0; k < f.count(t); ++k) most = most / bound_of.most[t] * now[t];
    return most;
  }
  std::int64_t in_run(quantity q) const { return in_run(most_of(q), factors_of(q)); }
  std::int64_t count(shape const& s) const { return in_run(s.count(), s.count_factors()); }
};

// A call as it is in a run. Kernels know nothing of bounds: what they are given has the extents that there are.
inline void resolve(call& c, run_extents const& e) {
  c.rows = e.in_run(c.rows, c.of_rows);
  c.cols = e.in_run(c.cols, c.of_cols);
  c.depth = e.in_run(c.depth, c.of_depth);
  c.batch = e.in_run(c.batch, c.of_batch);
}
// `table`: the numbers of all operands of the program that vary.
inline void resolve(operand_ref& r, varying_number const* table, run_extents const& e) {
  for (int k = 0; k < r.varying; ++k) {
    varying_number const& v = table[r.first_varying + k];
    std::int64_t const now = e.in_run(v.value);
    switch (v.field) {
      case operand_field::offset: r.offset += now - most_of(v.value); break;  // it has the place of the buffer too, which does not vary
      case operand_field::matrix: r.matrix = now; break;
      case operand_field::step: r.step[v.axis] = now; break;
      case operand_field::extent: r.extent[v.axis] = static_cast<int>(now); break;
      case operand_field::stride: r.stride[v.axis] = now; break;
      case operand_field::row: r.row = now; break;
      case operand_field::col: r.col = now; break;
      case operand_field::random_rows: r.random.rows = static_cast<int>(now); break;
    }
  }
}
// Of a loop over bands: where matrices are smaller than planned, more of them fill what is planned for a band.
inline void resolve(loop& l, run_extents const& e) {
  if (l.band == 0) return;
  l.matrices = e.in_run(l.matrices, l.of_matrices);
  std::int64_t most = 1, now = 1;  // of a matrix, but for what is fixed
  for (int t = 1; t <= max_tags; ++t)
    for (int k = 0; k < l.of_matrix.count(t); ++k) {
      most *= e.bound_of.most[t];
      now *= e.now[t];
    }
  l.band = now == 0 ? l.matrices : l.band * most / now;
}

}  // namespace tx::exec
