// Extents of a tensor. Rank 0 is a scalar. One extent may be bounded: planned for its maximum, run with fewer. It is the leading one, but
// for the operands of a product that sums over it and for what a repeat has stacked.
#pragma once

#include <tx/config.hpp>
#include <tx/core/dtype.hpp>

namespace tx {

// Which bounded extent an axis varies with, and that extent's bound; id 0: none.
struct bound_tag {
  int id = 0;
  int max = 0;
  int axis = 0;

  constexpr bool operator==(bound_tag const&) const = default;
  constexpr explicit operator bool() const { return id != 0; }
  // The same extent as that of another axis.
  constexpr bound_tag on(int other) const { return id == 0 ? bound_tag{} : bound_tag{id, max, other}; }
};

// A leading extent known only to be at most `max`, a multiple of its tag's bound. Extents with different tags never unify.
struct bounded {
  int max;
  bound_tag tag;

  constexpr bool operator==(bounded const&) const = default;
};

// Tags are 1 ... max_tags. A bound of 1 would be an extent that broadcasts.
inline constexpr int max_tags = 7;

template <int Max, int Tag = 1>
  requires(Max > 1 && Tag > 0 && Tag <= max_tags)
inline constexpr bounded dyn{Max, {Tag, Max, 0}};

struct shape {
  int rank = 0;
  bound_tag tag{};  // none: all extents are fixed; otherwise dim[tag.axis] is planned for its bound and may be smaller
  int dim[max_rank] = {};

  constexpr bool operator==(shape const&) const = default;
  constexpr int operator[](int axis) const { return dim[axis < 0 ? axis + rank : axis]; }
  constexpr int last() const { return rank == 0 ? 1 : dim[rank - 1]; }
  // Elements of a row: the last extent, but 1 of a bounded vector, whose elements are the rows that a run may have fewer of.
  constexpr int row_length() const { return rank == 1 && tag ? 1 : last(); }
  constexpr std::int64_t count() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dim[i];
    return n;
  }
};

constexpr int extent_of(int fixed) { return fixed; }
constexpr int extent_of(bounded b) { return b.max; }
constexpr bound_tag tag_of(int) { return {}; }
constexpr bound_tag tag_of(bounded b) { return b.tag; }

template <auto First, auto... Rest>
inline constexpr bool fixed_after_first = (!tag_of(Rest) && ...);

template <auto... Dims>
constexpr shape make_shape() {
  static_assert(sizeof...(Dims) <= max_rank, "tx: a tensor has at most tx::max_rank axes. FIX: make one of several that stand beside each other");
  if constexpr (sizeof...(Dims) > 1) {
    static_assert(fixed_after_first<Dims...>, "tx: only the leading extent of a tensor may be bounded. FIX: a number for the others, or that axis first");
    static_assert((... && (extent_of(Dims) > 0)) || !(... || tag_of(Dims)), "tx: a row of a tensor with a bounded extent has no elements. FIX: fixed extents above 0");
  }
  shape s{};
  ((s.tag = s.rank == 0 ? tag_of(Dims) : s.tag, s.dim[s.rank++] = extent_of(Dims)), ...);
  return s;
}

// Bytes, for budgets: see step/fits.hpp.
constexpr std::int64_t KiB(std::int64_t n) { return n << 10; }
constexpr std::int64_t MiB(std::int64_t n) { return n << 20; }
constexpr std::int64_t GiB(std::int64_t n) { return n << 30; }

// What is known of a value before it exists.
struct value_info {
  dtype type = dtype::f32;
  shape dims{};

  constexpr bool operator==(value_info const&) const = default;
  constexpr std::int64_t count() const { return dims.count(); }
  constexpr std::int64_t bytes() const { return dims.count() * size_of(type); }
};

}  // namespace tx
