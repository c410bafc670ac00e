// Tables of elementwise ops beside plain functions, and what is checked of each entry.
#pragma once

#include "check_op.hpp"

struct unary {
  char const* name;
  std::function<tx::var(tx::var)> op;
  double (*plain)(double);
  double lo, hi;
};
struct binary {
  char const* name;
  std::function<tx::var(tx::var, tx::var)> op;
  double (*plain)(double, double);
  double lo, hi;
  bool has_gradient = true;
};

// On a random shape of that rank.
inline void check_unary(unary const& u, number_source& numbers, int rank) {
  check_op(u.name, {numbers.spread(numbers.dims(rank), u.lo, u.hi)}, [&](std::vector<tx::var> const& x) { return u.op(x[0]); },
           [&](std::vector<array> const& x) { return each(u.plain, x[0]); }, true, 1e-7);
}
// The same against a shape that broadcasts with it, either way round; `second` is where the other's numbers begin.
inline void check_binary(binary const& b, number_source& numbers, int rank, double second) {
  tx::shape const full = numbers.dims(rank);
  tx::shape const other = numbers.against(full);
  array const x = numbers.spread(full, b.lo, b.hi, 0.25);
  array const y = numbers.spread(other, b.lo, b.hi, second);
  auto const op = [&](std::vector<tx::var> const& v) { return b.op(v[0], v[1]); };
  auto const plain = [&](std::vector<array> const& v) { return each(b.plain, v[0], v[1]); };
  check_op(b.name, {x, y}, op, plain, b.has_gradient, 1e-7);
  check_op(b.name, {y, x}, op, plain, b.has_gradient, 1e-7);
}
