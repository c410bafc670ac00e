// What a rank keeps of a state, where ranks divide it: of each tensor of two axes or more a portion of its rows, in each block of the repeats that it lies in. Vectors
// and numbers are small: all ranks keep them, those of a group that has nothing else as rows of the flat block (parameter_layout.hpp).
//
//   of two ranks            [10, 16]   [12, 7, 3]   [16]   a group of vectors, rows [5, 1024]
//   each keeps              [5, 16]    [12, 4, 3]   [16]   [5, 1024]
//
// With tensor_parallel it is a portion of the rows, of the columns, or all, as the products need it. With pipeline it is a portion of the blocks of a repeat. Beside each other one divides
// what the other leaves a rank; and with zero the ranks that keep the same portion of a parameter, each for a batch of its own, divide the rows of its states once more:
//
//   of two ranks by two     [6, 10, 16], of a repeat of 6 blocks, which are divided, and its columns
//   each keeps              [3, 10, 8] of the parameter
//   and by two batches      [3, 5, 8] of a state
#pragma once

#include <tx/core/portion.hpp>
#include <tx/core/rank_grid.hpp>
#include <tx/expr/parameter_layout.hpp>

namespace tx {

// How ranks divide tensors of two axes or more: by up to three divisions, of which each divides what those before it leave a rank.
struct portioning {
  static constexpr int most = 3;
  static constexpr signed char none = -1, blocks = -2;

  // Of each entry of the layout the axis that these ranks divide: one of its own, that of the blocks it is repeated in, or none, where all of them have all; without a table the rows.
  struct division {
    dividing_ranks ranks = 1;
    signed char const* axes = nullptr;
    constexpr bool divides(int entry) const { return axes == nullptr || axes[entry] != none; }
    // Counted from the first of the tensor's own: axes of repeats stand before it.
    constexpr int axis_of(int entry, int repeats) const { return axes == nullptr ? 0 : axes[entry] == blocks ? -repeats : axes[entry]; }
  };
  division by[most]{};
  int count = 0;
  int entries = 0;  // that tables are of

  // The rows of all, by ranks with different batches.
  static constexpr portioning of_rows(int ranks) { return portioning{}.and_by({ranks, across::batches}); }
  // These, and one more behind them.
  constexpr portioning and_by(dividing_ranks ranks, signed char const* axes = nullptr, int of_entries = 0) const {
    portioning all = *this;
    if (ranks.count == 1) return all;
    all.by[all.count++] = {ranks, axes};
    if (axes != nullptr) all.entries = of_entries;
    return all;
  }
  // What the first `n` divisions leave a rank.
  constexpr portioning first(int n) const {
    portioning some = *this;
    some.count = n < count ? n : count;
    return some;
  }
  // So many of them, the first, divide the work of one batch.
  constexpr int of_work() const {
    int n = 0;
    while (n < count && by[n].ranks.which != across::batches) ++n;
    return n;
  }
  // Ranks that divide them, all together.
  constexpr int ranks() const {
    int all = 1;
    for (int k = 0; k < count; ++k) all *= by[k].ranks.count;
    return all;
  }
  constexpr bool operator==(portioning const& other) const {
    bool same = count == other.count && entries == other.entries;
    for (int k = 0; k < count && same; ++k) {
      same = by[k].ranks == other.by[k].ranks && (by[k].axes == nullptr) == (other.by[k].axes == nullptr);
      for (int e = 0; e < entries && same && by[k].axes != nullptr; ++e) same = by[k].axes[e] == other.by[k].axes[e];
    }
    return same;
  }
};

// One division of a piece: [blocks, rows, row] elements, of which each rank keeps [blocks, kept_rows, row].
struct piece_division {
  dividing_ranks ranks = 1;
  int axis = 0;  // of a tensor that the rows are, counted from the first of its own; below 0: of the repeats before it
  std::int64_t blocks = 1, rows = 1, row = 1, kept_rows = 1;

  constexpr std::int64_t count() const { return blocks * rows * row; }
  constexpr std::int64_t kept_count() const { return blocks * kept_rows * row; }
};

struct state_piece {
  int entry = -1;            // of the layout; -1: rows of a group
  int group = 0;
  std::int64_t first = 0;    // of its elements, among all parameters
  std::int64_t kept = 0;     // of those that a rank keeps
  std::int64_t count = 0;    // of all ranks
  piece_division by[portioning::most]{};  // each of what those before it leave a rank
  int divisions = 0;

  constexpr bool divided() const { return divisions > 0; }
  constexpr std::int64_t kept_count() const { return divided() ? by[divisions - 1].kept_count() : count; }
  // nullptr: those ranks have all of it.
  constexpr piece_division const* division_by(across which) const {
    for (int k = 0; k < divisions; ++k)
      if (by[k].ranks.which == which) return &by[k];
    return nullptr;
  }
  // Where in what a rank keeps a tensor begins that lies behind so many elements of the piece.
  constexpr std::int64_t kept_behind(std::int64_t elements) const {
    for (int k = 0; k < divisions; ++k) elements = elements / (by[k].rows * by[k].row) * (by[k].kept_rows * by[k].row);
    return elements;
  }
};

namespace detail {
// Rounded up to where the next piece begins.
template <class Model>
constexpr std::int64_t end_of_piece(state_piece const& p) {
  constexpr std::int64_t line = layout<Model>::line;
  return p.kept + (p.kept_count() + line - 1) / line * line;
}
// Of an entry of a layout; dims: with the axes of repeats.
constexpr void divide_piece(state_piece& p, layout_entry const& e, portioning const& how) {
  shape left = e.info.dims;
  int const repeats = left.rank - e.rank;
  for (int k = 0; k < how.count; ++k) {
    if (!how.by[k].divides(p.entry)) continue;
    piece_division d{.ranks = how.by[k].ranks, .axis = how.by[k].axis_of(p.entry, repeats)};
    int const axis = repeats + d.axis;
    for (int a = 0; a < left.rank; ++a) (a < axis ? d.blocks : a == axis ? d.rows : d.row) *= left.dim[a];
    d.kept_rows = rows_of_rank(d.rows, d.ranks.count);
    if (d.kept_rows == d.rows) continue;  // of one row
    left.set(axis, static_cast<int>(d.kept_rows));
    p.by[p.divisions++] = d;
  }
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
      add(state_piece{.entry = -1, .group = g, .first = group.first, .count = group.count});
      continue;
    }
    for (int k = 0; k < of_model::entries.size(); ++k) {
      layout_entry const& e = of_model::entries[k];
      if (e.group != g) continue;
      state_piece p{.entry = k, .group = g, .first = e.offset, .count = e.info.count()};
      if (e.rank > 1 && p.count > 0) detail::divide_piece(p, e, how);
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
