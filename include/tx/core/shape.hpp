// Extents of a tensor. Rank 0 is a scalar. Any extent may be bounded: planned for its maximum, run with what a run's arguments have.
#pragma once

#include <tx/config.hpp>
#include <tx/core/dtype.hpp>
#include <tx/core/error.hpp>

namespace tx {

// Bounded extents have tags, 1 ... max_tags: two with one tag are the same number in each run.
inline constexpr int max_tags = 5;

// How often each bounded extent is multiplied into a number of a plan. In a program with B <= 32 and S <= 512
//   an extent of 16 B      is planned as 512       and has B once
//   a stride of S S        is planned as 262,144   and has S twice
//   an extent of 512       is planned as 512       and has none: it is fixed
// so the three are different numbers, whatever they are planned as. What they are in a run: run/extents.hpp.
struct factors {
  static constexpr int bits_each = 2, bits_all = max_tags * bits_each;
  static constexpr std::uint32_t most = (1u << bits_each) - 1;  // times that a number has one as a factor

  std::uint32_t bits = 0;

  static constexpr factors once(int tag) { return {1u << (tag - 1) * bits_each}; }
  constexpr bool operator==(factors const&) const = default;
  constexpr explicit operator bool() const { return bits != 0; }
  constexpr int count(int tag) const { return static_cast<int>(bits >> (tag - 1) * bits_each & most); }
  // Has it all that another one has?
  constexpr bool include(factors other) const {
    for (int t = 1; t <= max_tags; ++t)
      if (count(t) < other.count(t)) return false;
    return true;
  }

  // Those of a b are a + b, and of a / b a - b: counts add up as exponents do.
  friend constexpr factors operator+(factors a, factors b) {
    if (a.bits == 0 || b.bits == 0) return {a.bits | b.bits};
    for (int t = 1; t <= max_tags; ++t)
      if (a.count(t) + b.count(t) > static_cast<int>(most)) throw invalid("a tensor has one bounded extent more than three times. FIX: another tag, or fewer such axes");
    return {a.bits + b.bits};
  }
  friend constexpr factors operator-(factors a, factors b) {
    if (!a.include(b)) throw invalid("a bounded extent is divided by one that is no factor of it");
    return {a.bits - b.bits};
  }
};

// An extent. Without factors it is `max`; with factors it is at most `max`, and known in a run.
struct bounded {
  int max = 0;
  factors of{};

  constexpr bounded() = default;
  constexpr bounded(int fixed) : max(fixed) {}
  constexpr bounded(int most, factors f) : max(most), of(f) {}
  constexpr bool operator==(bounded const&) const = default;
  friend constexpr bounded operator*(bounded a, bounded b) { return {a.max * b.max, a.of + b.of}; }
};

// dyn<Max, Tag> as an extent of a tensor: at most Max elements, known in a run. Axes with one tag have the same number of them. Max is above 1, as
// an extent of 1 broadcasts.
template <int Max, int Tag = 1>
  requires(Max > 1 && Tag > 0 && Tag <= max_tags)
inline constexpr bounded dyn{Max, factors::once(Tag)};

struct shape {
  int rank = 0;
  std::uint64_t bounds = 0;  // the factors of each axis, the first one's in the lowest bits; 0: all extents are fixed
  int dim[max_rank] = {};    // bounded extents at their most

  constexpr bool operator==(shape const&) const = default;
  constexpr int operator[](int axis) const { return dim[axis < 0 ? axis + rank : axis]; }
  constexpr int last() const { return rank == 0 ? 1 : dim[rank - 1]; }
  // Elements of a row: the last extent, but 1 of a bounded vector, whose elements are the rows that a run may have fewer of.
  constexpr int row_length() const { return rank == 1 && bounds != 0 ? 1 : last(); }
  constexpr std::int64_t count() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= dim[i];
    return n;
  }

  constexpr bool is_bounded(int axis) const { return factors_at(axis).bits != 0; }
  constexpr factors factors_at(int axis) const { return {static_cast<std::uint32_t>(bounds >> axis * factors::bits_all) & ((1u << factors::bits_all) - 1)}; }
  // Of the number of elements.
  constexpr factors count_factors() const {
    factors all{};
    if (bounds != 0)
      for (int i = 0; i < rank; ++i) all = all + factors_at(i);
    return all;
  }
  constexpr bounded at(int axis) const {
    if (axis < 0) axis += rank;
    return {dim[axis], factors_at(axis)};
  }
  constexpr void set(int axis, bounded extent) {
    dim[axis] = extent.max;
    std::uint64_t const mask = std::uint64_t{(1u << factors::bits_all) - 1} << axis * factors::bits_all;
    bounds = (bounds & ~mask) | std::uint64_t{extent.of.bits} << axis * factors::bits_all;
  }
  constexpr void add(bounded extent) {
    if (rank == max_rank) throw invalid("a value would have more axes than tx::max_rank. FIX: merge some with reshape");
    set(rank++, extent);
  }
  constexpr void set_last(bounded extent) { set(rank - 1, extent); }
  // The same without its first axis.
  constexpr shape inner() const {
    shape s{rank - 1, bounds >> factors::bits_all, {}};
    for (int i = 1; i < rank; ++i) s.dim[i - 1] = dim[i];
    return s;
  }
};

// So many elements of an extent, which a run must have.
struct needed_elements {
  bounded of{};
  int elements = 0;
};

// Of the bounded extent of each tag, 1 to max_tags: the most that it is in a program, 0 where there is none, and the least that a run may have.
struct bound_table {
  static constexpr int max_products = 4;
  int most[max_tags + 1] = {};
  int least[max_tags + 1] = {};
  needed_elements of_products[max_products]{};  // of extents that are a product of several, [B <= 32, S <= 64] as one of 2,048
  int products = 0;

  constexpr bool any() const {
    for (int n : most)
      if (n != 0) return true;
    return false;
  }
  // Is each bounded axis a multiple of what bounds it? (Not of a tag that no argument has: bounds_are_told refuses that.)
  constexpr bool divides(shape const& s) const {
    for (int a = 0; a < s.rank; ++a) {
      int left = s.dim[a];
      for (int t = 1; t <= max_tags; ++t)
        for (int k = 0; k < s.factors_at(a).count(t) && most[t] > 0; ++k) {
          if (left % most[t] != 0) return false;
          left /= most[t];
        }
    }
    return true;
  }
  // A view takes so many elements of an extent, which a run must have.
  constexpr void need(bounded extent, int elements) {
    for (int t = 1; t <= max_tags; ++t) {
      if (!(extent.of == factors::once(t))) continue;
      int const times = most[t] > 0 ? extent.max / most[t] : 1;
      int const wanted = (elements + times - 1) / times;
      if (wanted > least[t]) least[t] = wanted;
      return;
    }
    for (int k = 0; k < products; ++k)
      if (of_products[k].of == extent) {
        if (elements > of_products[k].elements) of_products[k].elements = elements;
        return;
      }
    if (products == max_products)
      throw invalid("a program takes fixed parts of more than four extents that are products of bounded ones. FIX: take them before axes are merged");
    of_products[products++] = {extent, elements};
  }
  // Takes the most from the shape of an argument: from axes that are the bounded extent itself, not a multiple.
  constexpr void note(shape const& s) {
    for (int a = 0; a < s.rank; ++a)
      for (int t = 1; t <= max_tags; ++t)
        if (s.factors_at(a) == factors::once(t) && (most[t] == 0 || s.dim[a] < most[t])) most[t] = s.dim[a];
  }
};

// A shape of these extents, each a number or `bounded`.
template <class... Extents>
constexpr shape extents(Extents... each) {
  shape s{};
  (s.add(each), ...);
  return s;
}

template <auto... Dims>
constexpr shape make_shape() {
  static_assert(sizeof...(Dims) <= max_rank, "tx: a tensor has at most tx::max_rank axes. FIX: make one of several that stand beside each other");
  shape s{};
  if constexpr (sizeof...(Dims) <= max_rank) s = extents(bounded(Dims)...);
  if (s.bounds != 0 && s.count() == 0) throw invalid("a tensor with a bounded extent has an axis without elements. FIX: fixed extents above 0");
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
