// What a rank keeps of parameters and states that ranks divide among them (expr/state_portions.hpp), beside what all ranks have together, which is laid out as it would be
// on one: that is what read, write and checkpoints see, so that they are the same for any number of ranks.
#pragma once

#include <tx/expr/parameter_names.hpp>
#include <tx/expr/state_portions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace tx::exec {

// A rank, by the number of the portion that it keeps, and of that which it keeps of it, where ranks with other batches divide it once more.
struct portion_owner {
  int portion = 0, batch = 0;
};

// f(where it is kept in bytes of the block, the first of its elements in the tensor, how many) for each run of elements that rank `rank` keeps of a parameter.
template <class Model, class F>
void for_each_kept(vec<state_piece> const& pieces, int rank, int entry, F const& f) {
  layout_entry const& e = layout<Model>::entries[entry];
  std::int64_t const start = tx::detail::kept_first_byte<Model>(pieces, entry), size = size_of(e.info.type);
  state_piece const* const p = tx::detail::piece_of_entry<Model>(pieces, entry);
  if (p == nullptr || !p->divided()) return f(start, std::int64_t{0}, e.info.count());
  portion const own = portion_of(p->rows, p->kept_rows, rank);
  for (std::int64_t b = 0; b < p->blocks; ++b) f(start + b * p->kept_rows * p->row * size, (b * p->rows + own.first) * p->row, own.count * p->row);
}

// From what each of the ranks that divide their portions once more keeps, those portions, laid out as how.once() has it. All of them have to call it.
template <class Model, class Communicator, class T>
std::vector<T> portions_of_all(Communicator& ranks, portioning const& how, std::span<T const> kept) {
  auto const once = state_pieces<Model>(how.once()), again = state_pieces<Model>(how);
  std::vector<T> out(static_cast<std::size_t>(kept_elements<Model>(how.once())));
  std::vector<T> of_ranks;
  for (int k = 0; k < again.size(); ++k) {
    state_piece const& p = again[k];
    auto const own = kept.subspan(static_cast<std::size_t>(p.kept), static_cast<std::size_t>(p.kept_count()));
    auto const to = out.begin() + static_cast<std::ptrdiff_t>(once[k].kept);
    if (!p.divided_again()) {
      std::copy(own.begin(), own.end(), to);
      continue;
    }
    of_ranks.resize(own.size() * static_cast<std::size_t>(how.again));
    ranks.all_gather(own, std::span<T>(of_ranks));
    for (int r = 0; r < how.again; ++r) {
      portion const theirs = portion_of(p.own_rows, p.own_kept, r);
      for (std::int64_t t = 0; t < p.tensors; ++t)
        std::copy_n(of_ranks.begin() + (r * p.tensors + t) * p.own_kept * p.own_row, theirs.count * p.own_row, to + (t * p.own_rows + theirs.first) * p.own_row);
    }
  }
  return out;
}
// And back: of those portions what rank `rank` of these keeps. What its rows lack is zero.
template <class Model, class T>
void keep_of_portions(portioning const& how, int rank, std::span<T const> portions, std::span<T> kept) {
  auto const once = state_pieces<Model>(how.once()), again = state_pieces<Model>(how);
  for (int k = 0; k < again.size(); ++k) {
    state_piece const& p = again[k];
    auto const from = portions.subspan(static_cast<std::size_t>(once[k].kept), static_cast<std::size_t>(p.portion_count()));
    auto const to = kept.subspan(static_cast<std::size_t>(p.kept), static_cast<std::size_t>(p.kept_count()));
    if (!p.divided_again()) {
      std::copy(from.begin(), from.end(), to.begin());
      continue;
    }
    portion const own = portion_of(p.own_rows, p.own_kept, rank);
    std::fill(to.begin(), to.end(), T{});
    for (std::int64_t t = 0; t < p.tensors; ++t)
      std::copy_n(from.begin() + (t * p.own_rows + own.first) * p.own_row, own.count * p.own_row, to.begin() + t * p.own_kept * p.own_row);
  }
}

// From what each rank keeps of what is trained, all of it, laid out as parameters are; elements between tensors are zero. All ranks have to call it. As: the element type,
// or bytes of it. Behind it `behind` is taken as it is.
template <class Model, class As, class Communicator, class T>
std::vector<As> gathered(Communicator& ranks, portioning const& how, std::span<T const> kept, std::span<As const> behind) {
  std::vector<As> out(static_cast<std::size_t>(layout<Model>::trained) * sizeof(T) / sizeof(As));
  std::span<T> const all(reinterpret_cast<T*>(out.data()), static_cast<std::size_t>(layout<Model>::trained));
  std::vector<T> of_ranks;
  for (state_piece const& p : state_pieces<Model>(how)) {
    auto const own = kept.subspan(static_cast<std::size_t>(p.kept), static_cast<std::size_t>(p.kept_count()));
    if (!p.divided()) {
      std::copy(own.begin(), own.end(), all.begin() + p.first);
      continue;
    }
    of_ranks.resize(own.size() * static_cast<std::size_t>(how.ranks));
    ranks.all_gather(own, std::span<T>(of_ranks));
    for (int r = 0; r < how.ranks; ++r) {
      portion const theirs = portion_of(p.rows, p.kept_rows, r);
      for (std::int64_t b = 0; b < p.blocks; ++b)
        std::copy_n(of_ranks.begin() + (r * p.blocks + b) * p.kept_rows * p.row, theirs.count * p.row, all.begin() + p.first + (b * p.rows + theirs.first) * p.row);
    }
  }
  out.insert(out.end(), behind.begin(), behind.end());
  return out;
}

// What rank `rank` keeps of it; what its portions lack is zero.
template <class Model, class As, class T>
void keep(portioning const& how, int rank, std::span<As const> all, std::span<T> kept, std::span<As> behind) {
  for (state_piece const& p : state_pieces<Model>(how))
    for (std::int64_t b = 0; b < p.blocks; ++b) {
      portion const own = p.divided() ? portion_of(p.rows, p.kept_rows, rank) : portion{0, p.rows};
      auto const to = kept.subspan(static_cast<std::size_t>(p.kept + b * p.kept_rows * p.row), static_cast<std::size_t>(p.kept_rows * p.row));
      auto const count = static_cast<std::size_t>(own.count * p.row), first = static_cast<std::size_t>(p.first + (b * p.rows + own.first) * p.row);
      if (count > 0) std::memcpy(to.data(), reinterpret_cast<std::byte const*>(all.data()) + first * sizeof(T), count * sizeof(T));
      std::fill(to.begin() + static_cast<std::ptrdiff_t>(count), to.end(), T{});
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

// What rank `rank` keeps of the tensors of a block, `bytes`: of parameters, or of a state of what is trained. whole_too: also what all ranks have.
template <class Model>
TX_COLD std::vector<kept_tensor> kept_of_rank(portioning const& how, int rank, bool parameters, std::span<std::byte const> bytes, bool whole_too) {
  std::vector<kept_tensor> out;
  auto const pieces = state_pieces<Model>(how);
  tx::detail::for_each_tensor<Model>([&]<class P>(std::string_view name, int entry, std::int64_t index) {
    state_piece const* const p = tx::detail::piece_of_entry<Model>(pieces, entry);
    bool const divided = p != nullptr && p->divided();
    if ((p == nullptr && !parameters) || (!divided && !whole_too)) return;
    kept_tensor t{std::string(name), P::info.type, {}, {}};
    t.shape.assign(P::info.dims.dim, P::info.dims.dim + P::info.dims.rank);
    auto const size = std::size_t{static_cast<unsigned>(size_of(t.type))};
    auto const from = bytes.subspan(static_cast<std::size_t>(tx::detail::kept_first_byte<Model>(pieces, entry)));
    if (!divided) {
      auto const own = from.subspan(static_cast<std::size_t>(index * P::info.count()) * size, static_cast<std::size_t>(P::info.count()) * size);
      t.bytes.assign(own.begin(), own.end());
      out.push_back(std::move(t));
      return;
    }
    portion const own = portion_of(p->rows, p->kept_rows, rank);
    if (p->axis < 0) {  // whole tensors, of the blocks that the rank has
      std::int64_t const block = index * P::info.count() / p->row;
      if (block < own.first || block >= own.first + own.count) return;
      auto const first = static_cast<std::size_t>(index * P::info.count() - own.first * p->row) * size;
      auto const tensor = from.subspan(first, static_cast<std::size_t>(P::info.count()) * size);
      t.bytes.assign(tensor.begin(), tensor.end());
      out.push_back(std::move(t));
      return;
    }
    if (own.count == 0) return;
    t.axis = p->axis, t.first = own.first, t.extent = p->rows;
    t.shape[static_cast<std::size_t>(p->axis)] = own.count;
    std::int64_t const blocks = P::info.count() / (p->rows * p->row);  // of this tensor, of all that repeats have of it
    for (std::int64_t b = index * blocks; b < (index + 1) * blocks; ++b) {
      auto const rows = from.subspan(static_cast<std::size_t>(b * p->kept_rows * p->row) * size, static_cast<std::size_t>(own.count * p->row) * size);
      t.bytes.insert(t.bytes.end(), rows.begin(), rows.end());
    }
    out.push_back(std::move(t));
  });
  return out;
}

}  // namespace tx::exec
