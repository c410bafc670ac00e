// How the numbers of a decision are drawn: axes, extents, places.
#pragma once

#include "decisions.hpp"

#include <optional>
#include <random>

namespace drawn {

class chance {
 public:
  explicit chance(unsigned seed) : random_(seed) {}
  // 0 ... n - 1
  int under(int n) { return n <= 1 ? 0 : static_cast<int>(random_() % static_cast<unsigned>(n)); }
  int between(int low, int high) { return low + under(high - low + 1); }
  bool in(int n) { return under(n) == 0; }  // once in n times
  template <class T>
  T const& of(std::vector<T> const& all) {
    return all[static_cast<std::size_t>(under(static_cast<int>(all.size())))];
  }

 private:
  std::mt19937 random_;
};

// Extents as decisions have them. most: rows that are planned for.
inline std::vector<int> extents_of(shape const& s, int most) {
  std::vector<int> all;
  for (int i = 0; i < s.rank; ++i) {
    drawn_extent e{s.dim[i], s.factors_at(i).count(1), s.factors_at(i).count(2)};
    for (int k = 0; k < e.rows; ++k) e.times /= most;
    for (int k = 0; k < e.columns; ++k) e.times /= most + 1;
    all.push_back(e.code());
  }
  return all;
}
inline numbers as_numbers(std::vector<int> const& extents) {
  numbers p{};
  for (std::size_t i = 0; i < extents.size(); ++i) p[i] = extents[i];
  p[6] = static_cast<int>(extents.size());
  return p;
}

// The same elements under other extents: axes merged and split, ones taken in and out.
inline numbers other_extents(shape const& s, int most, chance& draw) {
  std::vector<int> e = extents_of(s, most);
  for (int change = draw.between(1, 3); change > 0; --change) {
    int const n = static_cast<int>(e.size());
    int const at = draw.under(n + 1);
    auto const here = e.begin() + at;
    switch (draw.under(4)) {
      case 0:  // a one
        if (n < tx::max_rank) e.insert(here, 1);
        break;
      case 1:  // without a one
        if (at < n && *here == 1) e.erase(here);
        break;
      case 2:  // two axes as one
        if (at + 1 < n) {
          drawn_extent const a = drawn_extent::of(*here), b = drawn_extent::of(*(here + 1));
          drawn_extent const both{a.times * b.times, a.rows + b.rows, a.columns + b.columns};
          if (both.fits()) *here = both.code(), e.erase(here + 1);
        }
        break;
      default:  // one axis as two
        if (at == n || n == tx::max_rank) break;
        if (drawn_extent const whole = drawn_extent::of(*here); whole.varies() && draw.in(2)) {  // of a bounded one, what bounds it goes to either side
          drawn_extent front = whole, back{1, 0, 0};
          if (draw.in(2)) std::swap(front.times, back.times);
          if (draw.in(2)) std::swap(front.rows, back.rows);
          if (draw.in(2)) std::swap(front.columns, back.columns);
          *here = front.code();
          e.insert(e.begin() + at + 1, back.code());
          break;
        }
        for (int f = 2; f <= 4; ++f) {
          drawn_extent part = drawn_extent::of(*here);
          if (part.times % f != 0 || part.times == 0 || (part.times == f && !part.varies()) || !draw.in(2)) continue;
          part.times /= f;
          *here = part.code();
          e.insert(e.begin() + at + 1, f);
          break;
        }
    }
  }
  return as_numbers(e);
}

inline numbers any_order(shape const& s, chance& draw) {
  numbers p{};
  for (int i = 0; i < s.rank; ++i) p[static_cast<std::size_t>(i)] = i;
  int const first = s.rank > 0 && s.is_bounded(0) && draw.in(2) ? 1 : 0;
  if (s.rank - first >= 2 && draw.in(2)) {
    int const i = draw.between(first, s.rank - 1), j = draw.between(first, s.rank - 1);
    std::swap(p[static_cast<std::size_t>(i)], p[static_cast<std::size_t>(j)]);
    return p;
  }
  for (int i = s.rank - 1; i > first; --i) std::swap(p[static_cast<std::size_t>(i)], p[static_cast<std::size_t>(draw.between(first, i))]);
  return p;
}

inline std::optional<numbers> choose(pick which, tx::value_info const& a, dtype main, int most, chance& draw) {
  numbers p{};
  shape const& s = a.dims;
  int const axis = draw.in(2) ? s.rank - 1 : draw.under(s.rank);
  auto const extent = [&] { return s.dim[axis]; };
  switch (which) {
    case pick::nothing: return p;
    case pick::count: p[0] = draw.under(5); return p;
    case pick::flag: p[0] = draw.under(2); return p;
    case pick::bits: p[0] = draw.under(128); return p;
    case pick::axis:
      if (s.rank == 0) return {};
      p[0] = axis, p[1] = draw.under(2);
      return p;
    case pick::axes:
      if (s.rank == 0) return {};
      p[0] = draw.in(3) ? draw.between(1, (1 << s.rank) - 1) : 1 << axis;
      return p;
    case pick::extents: return other_extents(s, most, draw);
    case pick::order:
      if (s.rank < 2) return {};
      return any_order(s, draw);
    case pick::part: {
      if (s.rank == 0 || extent() < 1) return {};
      if (s.is_bounded(axis)) {  // of columns there is one in each run
        if (!(s.factors_at(axis) == tx::factors::once(2))) return {};
        p[0] = axis, p[2] = p[3] = 1;
        return p;
      }
      int const step = draw.in(3) ? 2 : 1;
      int const start = draw.under(extent());
      int const room = (extent() - 1 - start) / step + 1;
      p[0] = axis, p[1] = start, p[2] = draw.between(draw.in(30) ? 0 : 1, room), p[3] = step;
      return p;
    }
    case pick::widen: {
      std::vector<int> e = extents_of(s, most);
      auto const wide = [&](int n) { return most > 0 && draw.in(4) ? draw.in(2) ? bounded_rows : bounded_columns : draw.between(1, n); };
      for (int& x : e)
        if (x == 1 && !draw.in(3)) x = wide(4);
      if (e.size() < 5 && draw.in(3)) e.insert(e.begin(), wide(3));
      return as_numbers(e);
    }
    case pick::padding: {
      if (s.rank == 0 || extent() < 1 || s.is_bounded(axis)) return {};
      p[0] = axis, p[1] = draw.under(3), p[2] = draw.between(1, 2);
      p[3] = p[1] + (extent() - 1) * p[2] + 1 + draw.under(2);
      return p;
    }
    case pick::type: {
      constexpr dtype types[] = {dtype::f64, dtype::f32, dtype::bf16, dtype::f16, dtype::i64, dtype::i32, dtype::i16, dtype::i8, dtype::u8, dtype::boolean, dtype::e4m3};
      p[0] = static_cast<int>(a.type != main && draw.in(2) ? main : types[draw.under(11)]);
      return p;
    }
    case pick::window: {
      if (s.rank != 4) return {};
      for (std::size_t i = 0; i < 2; ++i) {
        p[i] = draw.between(1, 3);
        p[2 + i] = draw.between(1, 2);
        p[4 + i] = draw.under(2);
        p[6 + i] = draw.between(1, 2);
      }
      return p;
    }
    case pick::share:
      if (s.last() < 1) return {};
      p[0] = draw.between(1, s.last());
      return p;
  }
  return {};
}

}  // namespace drawn
