// What ops that work along one axis share: a dense tensor seen as [outer, extent, inner], its lines cut into shares.
#pragma once

#include <tx/ops/partitioned.hpp>

namespace tx {

// The attributes of such an op: its axis, and a number that some have beside it, an extent along that axis for the most part.
constexpr attributes along(std::int64_t axis, std::int64_t number = 0) { return {{axis, number}}; }
TX_HD constexpr int axis_of(attributes const& at) { return static_cast<int>(at.v[0]); }
TX_HD constexpr std::int64_t number_along(attributes const& at) { return at.v[1]; }

// Line (o, j) of such a tensor is the elements (o extent + k) inner + j, k = 0 ... extent - 1.
struct axis_lines {
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;

  TX_HD constexpr std::int64_t at(std::int64_t o, std::int64_t k, std::int64_t j) const {
    return (o * extent + k) * inner + j;
  }
};

TX_HD constexpr axis_lines lines_along(shape const& s, std::int64_t axis) {
  axis_lines l{};
  for (int i = 0; i < s.rank; ++i) (i < axis ? l.outer : i == axis ? l.extent : l.inner) *= s.dim[i];
  return l;
}

// f(o, first, end) for runs of neighbouring lines (o, first) ... (o, end - 1): together all lines of a share.
template <class F>
TX_HD constexpr void for_lines(int share, int shares, axis_lines const& l, F const& f) {
  std::int64_t const lines = l.outer * l.inner;
  std::int64_t const end = lines * (share + 1) / shares;
  for (std::int64_t line = lines * share / shares; line < end;) {
    std::int64_t const first = line % l.inner;
    std::int64_t const count = l.inner - first < end - line ? l.inner - first : end - line;
    f(line / l.inner, first, first + count);
    line += count;
  }
}

namespace detail {
// The axis that a negative number counts from the end; `otherwise` is what is wrong if there is none.
constexpr int named_axis(shape const& s, int axis, char const* otherwise) {
  if (axis < 0) axis += s.rank;
  if (axis < 0 || axis >= s.rank) throw invalid(otherwise);
  return axis;
}

// Are two shapes equal but for the extent of one axis?
constexpr bool same_but_for(shape const& a, shape const& b, std::int64_t axis) {
  bool same = a.rank == b.rank;
  for (int i = 0; i < a.rank && same; ++i) same = i == axis || a.at(i) == b.at(i);
  return same;
}
}  // namespace detail

}  // namespace tx
