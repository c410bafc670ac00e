// Selections move towards the inputs: where all readers of a value take the same elements of an axis, only those are computed.
// A classifier that reads the first token alone pays for one row in its last layer's projections, norms and feed-forward.
// Runs before differentiation, so that the backward pass is narrow too. Values inside regions stay as they are.
//
//   before   h = matmul(x, w)                  [8, 128, 768]
//            t = slice<1, 0, 1>(h)             [8, 1, 768], all that is read of h
//   after    t = matmul(slice<1, 0, 1>(x), w)  [8, 1, 768]
#pragma once

#include <tx/ops/slice.hpp>
#include <tx/passes/hands_on.hpp>
#include <tx/passes/rewrite.hpp>

namespace tx::passes {

namespace detail {

constexpr bool is_all(selection const& part, shape const& of) { return part.count == proportional(of.dim[part.axis], of.factors_at(part.axis)); }

// The elements as a value. Where their number or their distance is bounded they are one of each group of neighbours: [B S, H] -> [B, S, H] -> [B, H].
constexpr var selected(var x, selection const& part) {
  int const count = static_cast<int>(most_of(part.count)), step = static_cast<int>(most_of(part.step)), start = static_cast<int>(part.start);
  if (!factors_of(part.count) && !factors_of(part.step)) return slice(x, part.axis, start, count, step);
  shape groups{}, kept = x.dims();
  for (int a = 0; a < x.dims().rank; ++a) {
    if (a != part.axis) {
      groups.add(x.dims().at(a));
      continue;
    }
    groups.add({count, factors_of(part.count)});
    groups.add({step, factors_of(part.step)});
  }
  kept.set(part.axis, {count, factors_of(part.count)});
  return reshape(slice(reshape(x, groups), part.axis + 1, start, 1, 1), kept);
}

// What a node, of whose result `part` is wanted, reads of its input k; at: its attributes then.
constexpr selection part_read(graph const& g, int id, int k, selection part, attributes& at) {
  node const& n = g[id];
  switch (n.op->kind) {
    case op_kind::elementwise:
    case op_kind::row_reduce: return part;
    case op_kind::product: {  // rows are of the left side, columns of the right one, matrices of both
      int const rank = n.info.dims.rank;
      return (part.axis == rank - 1 && k == 0) || (part.axis == rank - 2 && k == 1) ? selection{} : part;
    }
    case op_kind::view:
      if (n.op->narrow != nullptr) n.op->narrow(part, g.info(g.input(n, k)).dims, n.info.dims, at);
      return part;
    case op_kind::whole: return part && n.op->part_read != nullptr ? n.op->part_read(part, k, g.info(g.input(n, k)), at) : selection{};
    case op_kind::result: return part;  // if there is one, it is the first of an op's
    default: return {};
  }
}

// Are among its elements those of an argument? What is promised of those is checked for all that the view shows, so it stays as it is.
constexpr bool shows_argument(graph const& g, int id) {
  while (g[id].op->restride != nullptr) id = g.input(id, 0);
  bool shows = g[id].op == &input_info;
  for (int k = 0; hands_on_elements(g, id) && k < g[id].inputs; ++k) shows = shows || shows_argument(g, g.input(id, k));
  return shows;
}

constexpr bool can_narrow(graph const& g, int id, selection part) {
  node const& n = g[id];
  if (n.region != 0) return false;
  switch (n.op->kind) {
    case op_kind::elementwise:
    case op_kind::product: return true;
    case op_kind::row_reduce: return part.axis + 1 != n.info.dims.rank;
    case op_kind::index: return n.op->random;
    case op_kind::whole: return n.op->can_narrow != nullptr && n.op->can_narrow(part, n.at);
    case op_kind::result: return g.is_result_of_op(id) && result_number(n.at) == 0 && can_narrow(g, g.input(n, 0), part);
    case op_kind::view: {
      if (n.op->states_range && shows_argument(g, id)) return false;
      attributes at = n.at;
      return n.op->narrow == nullptr || n.op->narrow(part, g.info(g.input(n, 0)).dims, n.info.dims, at);
    }
    default: return false;
  }
}

// What is wanted of each value; everything unless all its readers agree on less.
constexpr vec<selection> wanted_parts(graph const& g) {
  vec<char> read(g.size(), 0);
  vec<selection> parts(g.size());
  auto reads = [&](int value, selection part) {
    if (part && is_all(part, g.info(value).dims)) part = {};
    parts[value] = read[value] == 0 || parts[value] == part ? part : selection{};
    read[value] = 1;
  };
  for (output const& o : g.outputs) reads(o.value, {});
  for (region const& body : g.regions)  // a body may hand out a number of the program
    for (int value : body.results) reads(value, {});
  for (int i = g.size() - 1; i >= 0; --i) {
    node const& n = g[i];
    if (read[i] == 0 && n.region == 0) continue;
    if (parts[i] && !can_narrow(g, i, parts[i])) parts[i] = {};
    if (g.has_results(i) && !parts[i]) parts[i + 1] = {};  // its first result is as wide as it is
    for (int k = 0; k < n.inputs; ++k) {
      attributes at = n.at;
      reads(g.input(n, k), n.region == 0 ? part_read(g, i, k, parts[i], at) : selection{});
    }
  }
  return parts;
}

struct narrowing {
  graph const& from;
  vec<selection> const& parts;

  constexpr int operator()(graph& to, int id, node& n, vec<int>& in) const {
    if (n.region != 0) return -1;
    selection const& mine = parts[id];
    attributes const whole = n.at;  // a result's has its new number already, that of the old node in `from` has the old one
    for (int k = 0; k < n.inputs; ++k) {
      int const operand = from.input(id, k);
      n.at = whole;
      selection const part = part_read(from, id, k, mine, n.at);  // makes the attributes those of the narrowed node
      if (!part || part == parts[operand] || is_all(part, to.info(in[k]).dims)) continue;
      // other readers want other parts
      in[k] = selected({&to, in[k]}, part).id;
    }
    if (from.is_result_of_op(id)) {  // of what may have been narrowed
      to.emit_results(in[0]);
      return in[0] + 1 + result_number(n.at);
    }
    if (mine) n.info.dims.set(mine.axis, {static_cast<int>(most_of(mine.count)), factors_of(mine.count)});
    if (n.op->narrow == nullptr || n.op->simplify == nullptr) return -1;
    simplify_context c{to, n.op, in.data(), in.size(), n.at, n.info};  // a slice of what is no longer there
    return n.op->simplify(c);
  }
};

}  // namespace detail

constexpr graph narrow(graph const& g) {
  vec<selection> const parts = detail::wanted_parts(g);
  for (selection const& p : parts)
    if (p) return rewrite(g, detail::narrowing{g, parts});
  return g;
}

}  // namespace tx::passes
