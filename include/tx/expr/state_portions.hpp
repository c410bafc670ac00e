// What a rank keeps of a state, where ranks divide it: of each tensor of two axes or more a portion of its rows, in each block of the repeats that it lies in. Vectors
// and numbers are small: all ranks keep them, those of a group that has nothing else as rows of the flat block (parameter_layout.hpp).
//
//   of two ranks            [10, 16]   [12, 7, 3]   [16]   a group of vectors, rows [5, 1024]
//   each keeps              [5, 16]    [12, 4, 3]   [16]   [5, 1024]
//
// With tensor_parallel it is a portion of the rows, of the columns, or all, as the products need it. With pipeline it is a portion of the blocks of a repeat. With zero<1> beside one of
// them the ranks that keep the same portion of a parameter, each for a batch of its own, divide the rows of its states once more:
//
//   of two by two ranks     [10, 16], its columns divided
//   each keeps              [10, 8] of the parameter, [5, 8] of a state
#pragma once

#include <tx/core/portion.hpp>
#include <tx/core/rank_grid.hpp>
#include <tx/expr/parameter_layout.hpp>

namespace tx {

// How ranks divide tensors of two axes or more: those of different batches all of them by rows; or those that divide the work of one batch each by the axis that a table says, of every
// entry of the layout: one of its own, that of the blocks it is repeated in, or none, where all ranks have all.
struct portioning {
  static constexpr signed char none = -1, blocks = -2;

  int ranks = 1;
  signed char const* axes = nullptr;
  int entries = 0;
  int again = 1;  // ranks with other batches that divide once more what those of a portion keep

  constexpr portioning(int of_ranks = 1, signed char const* table = nullptr, int count = 0, int once_more = 1) : ranks(of_ranks), axes(table), entries(count), again(once_more) {}
  // What the ranks of a portion keep together.
  constexpr portioning once() const { return {ranks, axes, entries}; }
  constexpr dividing_ranks divided_among() const { return {ranks, axes == nullptr ? across::batches : across::products}; }
  constexpr bool divides(int entry) const { return axes == nullptr || axes[entry] != none; }
  // Counted from the first of the tensor's own: axes of repeats stand before it.
  constexpr int axis_of(int entry, int repeats) const {
    if (axes == nullptr || axes[entry] == none) return 0;
    return axes[entry] == blocks ? -repeats : axes[entry];
  }
  constexpr bool operator==(portioning const& other) const {
    bool same = divided_among() == other.divided_among() && entries == other.entries && again == other.again;
    for (int k = 0; k < entries && same; ++k) same = axes[k] == other.axes[k];
    return same;
  }
};

struct state_piece {
  int entry = -1;            // of the layout; -1: rows of a group
  int group = 0;
  std::int64_t first = 0;    // of its elements, among all parameters
  std::int64_t kept = 0;     // of those that a rank keeps
  std::int64_t blocks = 1, rows = 1, row = 1;  // [blocks, rows, row] elements, of which a rank keeps [blocks, kept_rows, row]
  std::int64_t kept_rows = 1;
  int axis = 0;              // of a tensor that the rows are, counted from the first of its own; below 0: of the repeats before it
  std::int64_t tensors = 1, own_rows = 1, own_row = 1;  // the portion as [tensors, own_rows, own_row]
  std::int64_t own_kept = 1;                            // where ranks divide it once more, each keeps [tensors, own_kept, own_row] of it

  constexpr bool divided() const { return kept_rows < rows; }
  constexpr bool divided_again() const { return own_kept < own_rows; }
  constexpr std::int64_t count() const { return blocks * rows * row; }
  constexpr std::int64_t portion_count() const { return blocks * kept_rows * row; }
  constexpr std::int64_t kept_count() const { return divided_again() ? tensors * own_kept * own_row : portion_count(); }
};

namespace detail {
// Rounded up to where the next piece begins.
template <class Model>
constexpr std::int64_t end_of_piece(state_piece const& p) {
  constexpr std::int64_t line = layout<Model>::line;
  return p.kept + (p.kept_count() + line - 1) / line * line;
}
}  // namespace detail

template <class Model>
constexpr vec<state_piece> state_pieces(portioning const& how) {
  using of_model = layout<Model>;
  vec<state_piece> pieces{};
  auto const add = [&](state_piece p) {
    if (!pieces.empty()) p.kept = detail::end_of_piece<Model>(pieces.back());
    pieces.push_back(p);
  };
  for (int g = 0; g < of_model::groups.size(); ++g) {
    layout_group const& group = of_model::groups[g];
    if (!group.trained) continue;
    if (of_model::only_vectors(g)) {
      std::int64_t const rows = group.count / block_row;
      add({.group = g, .first = group.first, .rows = rows, .row = block_row, .kept_rows = rows});
      continue;
    }
    for (int k = 0; k < of_model::entries.size(); ++k) {
      layout_entry const& e = of_model::entries[k];
      if (e.group != g) continue;
      state_piece p{.entry = k, .group = g, .first = e.offset};
      shape const& dims = e.info.dims;
      p.axis = how.axis_of(k, dims.rank - e.rank);
      int const of_rows = dims.rank - e.rank + p.axis;
      for (int a = 0; a < dims.rank; ++a) (a < of_rows ? p.blocks : a == of_rows ? p.rows : p.row) *= dims.dim[a];
      p.kept_rows = e.rank > 1 && how.divides(k) && p.count() > 0 ? rows_of_rank(p.rows, how.ranks) : p.rows;
      if (how.again > 1 && e.rank > 1 && p.count() > 0) {
        int const own = dims.rank - e.rank;
        for (int a = 0; a < dims.rank; ++a) {
          std::int64_t const extent = a == of_rows ? p.kept_rows : dims.dim[a];
          (a < own ? p.tensors : a == own ? p.own_rows : p.own_row) *= extent;
        }
        p.own_kept = rows_of_rank(p.own_rows, how.again);
      }
      add(p);
    }
  }
  return pieces;
}

// Elements of what a rank keeps of a state, padding included.
template <class Model>
constexpr std::int64_t kept_elements(portioning const& how) {
  vec<state_piece> const pieces = state_pieces<Model>(how);
  return pieces.empty() ? 0 : detail::end_of_piece<Model>(pieces.back());
}

namespace detail {

// The piece that an entry of the layout lies in; nullptr: it is not trained.
template <class Model>
constexpr state_piece const* piece_of_entry(vec<state_piece> const& pieces, int entry) {
  layout_entry const& e = layout<Model>::entries[entry];
  for (state_piece const& p : pieces)
    if (p.entry == entry || (p.entry < 0 && p.group == e.group)) return &p;
  return nullptr;
}
// Where it begins in what a rank keeps, in bytes. What is not trained lies behind all that is.
template <class Model>
constexpr std::int64_t kept_first_byte(vec<state_piece> const& pieces, int entry) {
  using of_model = layout<Model>;
  layout_entry const& e = of_model::entries[entry];
  std::int64_t const size = size_of(e.info.type);
  if (state_piece const* const p = piece_of_entry<Model>(pieces, entry)) return (p->kept + e.offset - p->first) * size;
  std::int64_t const kept = pieces.empty() ? 0 : end_of_piece<Model>(pieces.back());
  return e.offset * size + (kept - of_model::trained) * size_of(of_model::type);
}

}  // namespace detail

}  // namespace tx
