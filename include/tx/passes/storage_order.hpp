// In which order a value's elements are best stored: dense for its first reader, if that reads it transposed.
//
//   q = matmul(x, w)                 [batch, token, head, d]
//   p = transpose<0, 2, 1, 3>(q)     [batch, head, token, d], read by a product
// q is stored as p has it, so p's reader finds dense matrices. Rows stay whole: the axis whose elements are neighbours does too.
// What is joined with others is stored at the strides of all of them.
#pragma once

#include <tx/ops/join.hpp>
#include <tx/passes/storage.hpp>

namespace tx::passes {

namespace detail {

// The order in which `source`, seen through view `reader`, would be dense there; false where there is none, or it is row-major.
constexpr bool reader_order(graph const& g, int source, int reader, strided& stored) {
  shape const& own = g.info(source).dims;
  shape const& read = g.info(reader).dims;
  strided const plain = dense(own);
  strided const wanted = dense(read);
  strided seen = plain;
  if (!g[reader].op->restride(seen, own, read, g[reader].at) || same_strides(seen, wanted, read)) return false;
  int const inner = innermost_axis(read);
  if (inner < 0 || seen.stride[inner] != exactly(1)) return false;
  for (int a = 0; a < own.rank; ++a)  // those of extent 1 have stride 0
    for (int j = 0; j < read.rank; ++j)
      if (seen.stride[j] == plain.stride[a]) stored.stride[a] = wanted.stride[j];
  return true;
}

// Of operand k of a join.
constexpr strided joined_strides(graph const& g, int join, int k) {
  strided s = dense(g.info(join).dims);
  shape const& own = g.info(g.input(join, k)).dims;
  for (int a = 0; a < own.rank; ++a)
    if (own.dim[a] == 1) s.stride[a] = {};
  return s;
}

}  // namespace detail

constexpr vec<strided> storage_order(graph const& g) {
  vec<strided> order{};
  order.reserve(g.size());
  for (int i = 0, end = g.size(); i < end; ++i) order.push_back(dense(g.info(i).dims));
  vec<char> chosen(g.size(), 0);
  for (int i = 0, end = g.size(); i < end; ++i)
    for (int k = 0; g[i].op == &join_info && k < g[i].inputs; ++k) {
      order[g.input(i, k)] = detail::joined_strides(g, i, k);
      chosen[g.input(i, k)] = 1;
    }
  for (int i = 0, end = g.size(); i < end; ++i) {
    node const& n = g[i];
    if (n.op->kind != op_kind::view) continue;
    int const from = g.input(n, 0);
    node const& source = g[from];
    if (chosen[from] || (source.op->kind != op_kind::elementwise && source.op->kind != op_kind::product)) continue;
    if (count_in(source.info.dims) != count_in(n.info.dims)) continue;
    chosen[from] = 1;  // the first reader decides
    strided stored{};
    if (detail::reader_order(g, from, i, stored)) order[from] = stored;
  }
  return order;
}

}  // namespace tx::passes
