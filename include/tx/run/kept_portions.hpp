// What a rank keeps of parameters and states that ranks divide among them (expr/state_portions.hpp), beside what all ranks have together, which is laid out as it would be
// on one: that is what read, write and checkpoints see, so that they are the same for any number of ranks.
#pragma once

#include <tx/core/rank_grid.hpp>
#include <tx/expr/parameter_names.hpp>
#include <tx/expr/state_portions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace tx::exec {

// A rank, whose place in the grid says which portions it keeps.
struct portion_owner {
  rank_grid grid{};
  int rank = 0;

  portion of(piece_division const& d) const { return portion_of(d.rows, d.kept_rows, grid.number_of(d.ranks.which, rank)); }
};

// Of `count` elements from `first` on of what so many divisions leave a rank, which it keeps from `kept` on: f(where it keeps them, where they lie in the whole piece, how many) for each run
// of them. Rows that a portion lacks are left out.
template <class F>
void for_each_run(state_piece const& p, portion_owner const& whose, int divisions, std::int64_t kept, std::int64_t first, std::int64_t count, F const& f) {
  if (divisions == 0) return f(kept, first, count);
  piece_division const& d = p.by[divisions - 1];
  portion const own = whose.of(d);
  std::int64_t const room = d.kept_rows * d.row, filled = own.count * d.row;  // of a block
  while (count > 0) {
    std::int64_t const block = first / room, within = first % room, n = std::min(count, room - within), there = std::min(n, filled - within);
    if (there > 0) for_each_run(p, whose, divisions - 1, kept, (block * d.rows + own.first) * d.row + within, there, f);
    first += n, kept += n, count -= n;
  }
}
template <class F>
void for_each_run(state_piece const& p, portion_owner const& whose, F const& f) {
  for_each_run(p, whose, p.divisions, 0, 0, p.kept_count(), f);
}

// f(where it is kept in bytes of the block, the first of its elements in the tensor, how many) for each run of elements that a rank keeps of a parameter.
template <class Model, class F>
void for_each_kept(vec<state_piece> const& pieces, portion_owner const& whose, int entry, F const& f) {
  layout_entry const& e = layout<Model>::entries[entry];
  std::int64_t const start = tx::detail::kept_first_byte<Model>(pieces, entry), size = size_of(e.info.type);
  state_piece const* const p = tx::detail::piece_of_entry<Model>(pieces, entry);
  if (p == nullptr || !p->divided()) return f(start, std::int64_t{0}, e.info.count());
  for_each_run(*p, whose, [&](std::int64_t kept, std::int64_t first, std::int64_t count) { f(start + kept * size, first, count); });
}

// How much of what ranks divide is put together: what those with different batches divide, or all.
enum class put_together { batches, all };

// From what each rank keeps of a piece, more of it. across(which): the communicator of those ranks, all of which have to call it.
template <class Across, class T>
std::vector<T> gathered_piece(Across const& across, put_together what, state_piece const& p, std::span<T const> kept) {
  std::vector<T> out(kept.begin(), kept.end()), of_ranks;
  for (int k = p.divisions; k > 0; --k) {
    piece_division const& d = p.by[k - 1];
    if (what == put_together::batches && d.ranks.which != tx::across::batches) break;
    of_ranks.resize(out.size() * static_cast<std::size_t>(d.ranks.count));
    across(d.ranks.which).all_gather(std::span<T const>(out), std::span<T>(of_ranks));
    out.resize(static_cast<std::size_t>(d.count()));
    for (int r = 0; r < d.ranks.count; ++r) {
      portion const theirs = portion_of(d.rows, d.kept_rows, r);
      for (std::int64_t b = 0; b < d.blocks; ++b)
        std::copy_n(of_ranks.begin() + (r * d.blocks + b) * d.kept_rows * d.row, theirs.count * d.row, out.begin() + (b * d.rows + theirs.first) * d.row);
    }
  }
  return out;
}

// From what each rank keeps of what is trained, all of it, laid out as parameters are; elements between tensors are zero. All ranks have to call it. As: the element type,
// or bytes of it. Behind it `behind` is taken as it is.
template <class Model, class As, class Across, class T>
std::vector<As> gathered(Across const& across, portioning const& how, std::span<T const> kept, std::span<As const> behind) {
  std::vector<As> out(static_cast<std::size_t>(layout<Model>::trained) * sizeof(T) / sizeof(As));
  for (state_piece const& p : state_pieces<Model>(how)) {
    auto const all = gathered_piece(across, put_together::all, p, kept.subspan(static_cast<std::size_t>(p.kept), static_cast<std::size_t>(p.kept_count())));
    if (!all.empty()) std::memcpy(out.data() + static_cast<std::size_t>(p.first) * sizeof(T) / sizeof(As), all.data(), all.size() * sizeof(T));
  }
  out.insert(out.end(), behind.begin(), behind.end());
  return out;
}

// What those with different batches divide, put together: laid out as what the divisions of the work of a batch leave a rank.
template <class Model, class Across, class T>
std::vector<T> gathered_over_batches(Across const& across, portioning const& how, std::span<T const> kept) {
  portioning const of_work = how.first(how.of_work());
  auto const from = state_pieces<Model>(how), to = state_pieces<Model>(of_work);
  std::vector<T> out(static_cast<std::size_t>(kept_elements<Model>(of_work)));
  for (int k = 0; k < from.size(); ++k) {
    auto const portion = gathered_piece(across, put_together::batches, from[k], kept.subspan(static_cast<std::size_t>(from[k].kept), static_cast<std::size_t>(from[k].kept_count())));
    std::copy(portion.begin(), portion.end(), out.begin() + static_cast<std::ptrdiff_t>(to[k].kept));
  }
  return out;
}

// What a rank keeps of all; what its portions lack is zero.
template <class Model, class As, class T>
void keep(portioning const& how, portion_owner const& whose, std::span<As const> all, std::span<T> kept, std::span<As> behind) {
  auto const* const from = reinterpret_cast<std::byte const*>(all.data());
  for (state_piece const& p : state_pieces<Model>(how)) {
    auto const to = kept.subspan(static_cast<std::size_t>(p.kept), static_cast<std::size_t>(p.kept_count()));
    std::fill(to.begin(), to.end(), T{});
    for_each_run(p, whose, [&](std::int64_t at, std::int64_t first, std::int64_t count) {
      std::memcpy(to.data() + at, from + static_cast<std::size_t>(p.first + first) * sizeof(T), static_cast<std::size_t>(count) * sizeof(T));
    });
  }
  std::copy(all.end() - static_cast<std::ptrdiff_t>(behind.size()), all.end(), behind.begin());
}

// A tensor of a model, or a state of it, or the rows that a rank keeps of it.
struct kept_tensor {
  std::string name;
  dtype type;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
  int axis = -1;  // along which it is a portion; -1: it is whole
  std::int64_t first = 0, extent = 0;  // the first of its rows, and all of the tensor
};

// Of ranks that have the same of a piece the first one speaks of it, among those that divide anything of what is told.
inline bool speaks_of(state_piece const& p, portioning const& how, portion_owner const& whose) {
  for (int k = 0; k < how.count; ++k) {
    across const which = how.by[k].ranks.which;
    if (p.division_by(which) == nullptr && whose.grid.number_of(which, whose.rank) > 0) return false;
  }
  return true;
}

// What a rank has of a block, parameters or a state: what is trained, and behind it what is not, where the block has that.
struct kept_bytes {
  std::span<std::byte const> trained, behind;
};

// What a rank keeps of the tensors of a block. Each of them is told by one rank of those that divide the block. how: divisions of which one at most is of a tensor's own axes. first: of all ranks,
// which tells what nobody divides.
template <class Model>
TX_COLD std::vector<kept_tensor> kept_of_rank(portioning const& how, portion_owner const& whose, kept_bytes const& bytes, bool first) {
  std::vector<kept_tensor> out;
  auto const pieces = state_pieces<Model>(how);
  tx::detail::for_each_tensor<Model>([&]<class P>(std::string_view name, int entry, std::int64_t index) {
    state_piece const* const p = tx::detail::piece_of_entry<Model>(pieces, entry);
    bool const divided = p != nullptr && p->divided();
    if (p == nullptr ? bytes.behind.empty() || !first : !speaks_of(*p, how, whose)) return;
    kept_tensor t{std::string(name), P::info.type, {P::info.dims.dim, P::info.dims.dim + P::info.dims.rank}, {}};
    auto const size = std::size_t{static_cast<unsigned>(size_of(t.type))};
    auto const first_byte = static_cast<std::size_t>(tx::detail::kept_first_byte<Model>(pieces, entry));
    auto const from = p == nullptr ? bytes.behind.subspan(first_byte - bytes.trained.size()) : bytes.trained.subspan(first_byte);
    auto const take = [&](std::int64_t at, std::int64_t count) {
      auto const own = from.subspan(static_cast<std::size_t>(at) * size, static_cast<std::size_t>(count) * size);
      t.bytes.insert(t.bytes.end(), own.begin(), own.end());
    };
    std::int64_t const begin = index * P::info.count(), end = begin + P::info.count();  // of this tensor, among all that repeats have of it
    if (!divided) {
      take(begin, end - begin);
      out.push_back(std::move(t));
      return;
    }
    for (int k = 0; k < p->divisions; ++k) {
      if (p->by[k].axis < 0) continue;
      portion const own = whose.of(p->by[k]);
      t.axis = p->by[k].axis, t.first = own.first, t.extent = p->by[k].rows;
      t.shape[static_cast<std::size_t>(t.axis)] = own.count;
    }
    for_each_run(*p, whose, [&](std::int64_t kept, std::int64_t at, std::int64_t count) {
      std::int64_t const from_here = std::max(at, begin), to = std::min(at + count, end);
      if (from_here < to) take(kept + from_here - at, to - from_here);
    });
    if (!t.bytes.empty()) out.push_back(std::move(t));  // else it is one of another rank's blocks
  });
  return out;
}

}  // namespace tx::exec
