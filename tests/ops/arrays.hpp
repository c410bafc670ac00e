// Arrays of f64 and plain ways to compute with them: what ops are compared with. Nothing here uses an op's own rule.
#pragma once

#include <tx/core/shape.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using values = std::vector<double>;

struct array {
  tx::shape dims;
  values v;
  tx::dtype type = tx::dtype::f64;
};

inline tx::shape make_dims(std::vector<int> const& extents) {
  tx::shape s{};
  for (int e : extents) s.dim[s.rank++] = e;
  return s;
}
inline std::vector<int> axes_of(tx::shape const& s) {
  std::vector<int> all;
  for (int i = 0; i < s.rank; ++i) all.push_back(i);
  return all;
}
inline std::size_t count_of(tx::shape const& s) { return static_cast<std::size_t>(s.count()); }
inline array filled(tx::shape const& dims, double value = 0) { return {dims, values(count_of(dims), value)}; }

// Position of an element along each axis, and back; an axis of extent 1 repeats.
inline std::vector<int> position_of(tx::shape const& s, std::size_t element) {
  std::vector<int> at(static_cast<std::size_t>(s.rank));
  for (int i = s.rank - 1; i >= 0; --i) {
    at[static_cast<std::size_t>(i)] = static_cast<int>(element % static_cast<std::size_t>(s.dim[i]));
    element /= static_cast<std::size_t>(s.dim[i]);
  }
  return at;
}
// The element that lies under position `at` of an array of higher or equal rank.
inline std::size_t element_at(tx::shape const& s, std::vector<int> const& at) {
  std::size_t e = 0;
  std::size_t const lead = at.size() - static_cast<std::size_t>(s.rank);
  for (int i = 0; i < s.rank; ++i) {
    int const p = s.dim[i] == 1 ? 0 : at[lead + static_cast<std::size_t>(i)];
    e = e * static_cast<std::size_t>(s.dim[i]) + static_cast<std::size_t>(p);
  }
  return e;
}

inline tx::shape joined(tx::shape a, tx::shape const& b) {
  if (a.rank < b.rank) return joined(b, a);
  for (int i = 1; i <= b.rank; ++i)
    if (a.dim[a.rank - i] == 1) a.dim[a.rank - i] = b.dim[b.rank - i];
  return a;
}

// f of one element of each array, in numpy's common shape.
template <class F>
array each(F f, array const& a) {
  array out = filled(a.dims);
  for (std::size_t e = 0; e < out.v.size(); ++e) out.v[e] = f(a.v[e]);
  return out;
}
template <class F>
array each(F f, array const& a, array const& b) {
  array out = filled(joined(a.dims, b.dims));
  for (std::size_t e = 0; e < out.v.size(); ++e) {
    auto const at = position_of(out.dims, e);
    out.v[e] = f(a.v[element_at(a.dims, at)], b.v[element_at(b.dims, at)]);
  }
  return out;
}

// Folds f over axes, which stay with extent 1.
template <class F>
array folded(array const& a, std::vector<int> const& axes, double start, F f) {
  tx::shape kept = a.dims;
  for (int axis : axes) kept.dim[axis < 0 ? axis + a.dims.rank : axis] = 1;
  array out = filled(kept, start);
  for (std::size_t e = 0; e < a.v.size(); ++e) {
    double& to = out.v[element_at(kept, position_of(a.dims, e))];
    to = f(to, a.v[e]);
  }
  return out;
}
inline array summed(array const& a, std::vector<int> const& axes) {
  return folded(a, axes, 0, [](double x, double y) { return x + y; });
}
inline array largest(array const& a, std::vector<int> const& axes) {
  return folded(a, axes, -INFINITY, [](double x, double y) { return std::max(x, y); });
}
inline array as_scalar(array a) {
  a.dims = tx::shape{};
  return a;
}

// Numbers for tests: the same on every machine.
class number_source {
 public:
  explicit number_source(unsigned seed) : engine_(seed) {}

  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  // At least one of the extents is odd or 1; no more than `most` elements.
  tx::shape dims(int rank, int most = 240) {
    static constexpr int extents[] = {1, 2, 3, 5, 7, 17};
    for (;;) {
      tx::shape s{};
      for (int i = 0; i < rank; ++i) s.dim[s.rank++] = extents[below(6)];
      if (s.count() <= most) return s;
    }
  }
  // An operand that broadcasts against `full`: leading axes may be missing, others may be 1.
  tx::shape against(tx::shape const& full) {
    tx::shape s{};
    int const dropped = below(full.rank + 1);
    for (int i = dropped; i < full.rank; ++i) s.dim[s.rank++] = below(3) == 0 ? 1 : full.dim[i];
    return s;
  }
  // Values in (lo, hi), no two closer than the spacing of as many numbers; `phase` in [0, 1) keeps arrays apart.
  array spread(tx::shape const& dims, double lo, double hi, double phase = 0.5) {
    array a = filled(dims);
    double const n = static_cast<double>(a.v.size());
    for (std::size_t i = 0; i < a.v.size(); ++i) a.v[i] = lo + (hi - lo) * (static_cast<double>(i) + phase) / n;
    for (std::size_t i = a.v.size(); i > 1; --i) std::swap(a.v[i - 1], a.v[static_cast<std::size_t>(below(static_cast<int>(i)))]);
    return a;
  }
  array integers(tx::shape const& dims, int lo, int hi, tx::dtype type = tx::dtype::i32) {
    array a = filled(dims);
    for (double& x : a.v) x = lo + below(hi - lo);
    a.type = type;
    return a;
  }

 private:
  std::mt19937 engine_;
};

// An array of which each element is a function of its position.
template <class F>
array built(tx::shape const& dims, F f) {
  array out = filled(dims);
  for (std::size_t e = 0; e < out.v.size(); ++e) out.v[e] = f(position_of(dims, e));
  return out;
}
// The element at a position.
inline double element(array const& a, std::vector<int> const& at) { return a.v[element_at(a.dims, at)]; }
inline std::vector<int> moved_to(std::vector<int> at, int axis, int to) {
  at[static_cast<std::size_t>(axis)] = to;
  return at;
}
