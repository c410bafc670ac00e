// What an op promises of an argument's elements (ops/in_range.hpp), for the executor to check before a run. Where it is
// promised of a part of an argument, by slices, only that part is checked: other elements may mean something else, as
// the columns of a packed batch do. Ops that move elements (reshape, transpose, flip), those that repeat them, conversions between
// integers and concat lead to the arguments too.
//
//   take(table, slice<0, 1, 3>(ids))      table [5, 4], ids [6]: elements 1 to 3 of argument ids are at least 0 and below 5
#pragma once

#include <tx/ops/in_range.hpp>
#include <tx/passes/hands_on.hpp>
#include <tx/passes/stride.hpp>
#include <tx/plan/lowered.hpp>

namespace tx::exec::detail {

// Elements of an argument, in any order.
struct shown_elements {
  struct axis {
    quantity extent, stride;
  };
  int input = -1;
  quantity offset{};
  vec<axis> axes{};
  bool ordered = true;  // the last axis is that of the value; else, which elements there are
};

// What the elements of a value show, a part of an argument each.
constexpr void add_shown(graph const& g, int id, vec<shown_elements>& all) {
  vec<int> moves{};  // from the value back to the argument
  bool some_left_out = false;
  while (g[id].op != &input_info) {
    node const& n = g[id];
    if (n.op->restride != nullptr) {
      moves.push_back(id);
      id = g.input(n, 0);
      some_left_out = some_left_out || n.info.count() < g.info(id).count();
    } else if (n.op == &argument_info) {  // all iterations together show what the body is handed
      region const& body = g.regions[argument_region(n.at)];
      int const k = argument_number(n.at);
      if (k < body.carries) return;
      if (k >= body.carries + body.invariants) moves.push_back(id);
      id = g.input(body.owner, k);
    } else if (passes::hands_on_elements(g, id) && n.inputs == 1) {
      id = g.input(n, 0);
    } else if (passes::hands_on_elements(g, id) && !some_left_out) {
      for (int k = 0; k < n.inputs; ++k) add_shown(g, g.input(n, k), all);
      return;
    } else {
      return;
    }
  }
  shown_elements e{input_number(g[id].at)};
  shape dims = g.info(id).dims;  // in one iteration; those of all are axes of e
  strided at = passes::dense(dims);
  bool ordered = true;  // strides say where each element lies; else, which ones there are
  for (int m = moves.size() - 1; m >= 0; --m) {
    node const& n = g[moves[m]];
    if (n.op == &argument_info) {
      if (!ordered) continue;
      e.axes.push_back({exactly(dims.dim[0]), at.stride[0]});
      for (int a = 1; a < dims.rank; ++a) at.stride[a - 1] = at.stride[a];
      dims = n.info.dims;
      continue;
    }
    shape const& from = g.info(g.input(n, 0)).dims;
    strided next = at;
    ordered = ordered && n.op->restride(next, from, n.info.dims, n.at);
    if (ordered) {
      at = next;
      dims = n.info.dims;
    } else if (n.info.count() < from.count()) {
      if (dims.bounds != 0)
        throw invalid("in_range: ids or labels are a part of an argument that begins at a fixed place and at one that a bounded extent moves, so they cannot be checked. FIX: an argument of their own");
      return;
    }
  }
  e.offset = at.offset;
  e.ordered = ordered;
  for (int a = 0; a < dims.rank; ++a) e.axes.push_back({proportional(dims.dim[a], dims.factors_at(a)), at.stride[a]});
  for (shown_elements::axis const& a : e.axes)
    if (a.extent == quantity{}) return;
  all.push_back(e);
}

// As few axes as say the same, the widest stride first.
constexpr range_check check_of(shown_elements const& e, node const& promise) {
  range_promise const says = range_promise_of(promise.at);
  range_check c{e.input, says.first, says.end, says.also, e.ordered ? says.most_rise : 0, says.of_end, says.beyond, e.offset};
  vec<shown_elements::axis> axes{};
  for (shown_elements::axis a : e.axes) {
    if (a.extent == exactly(1) || a.stride == quantity{}) continue;
    if (most_of(a.stride) < 0) {  // of a fixed extent, as a bounded one is not flipped by strides
      c.offset = c.offset + a.stride * (most_of(a.extent) - 1);
      a.stride = a.stride * -1;
    }
    axes.push_back(a);
  }
  c.stride[0] = exactly(1);  // of a single element
  stable_sort(axes, [](auto const& a, auto const& b) { return most_of(a.stride) > most_of(b.stride); });
  int n = 0;
  for (auto const& a : axes) {
    if (n > 0 && c.most_rise == 0 && c.stride[n - 1] == a.extent * a.stride) {
      c.extent[n - 1] = c.extent[n - 1] * a.extent;
      c.stride[n - 1] = a.stride;
    } else {
      c.extent[n] = a.extent;
      c.stride[n++] = a.stride;
    }
  }
  return c;
}

// Does b begin where a ends, as shards of one argument do?
constexpr bool goes_on(range_check const& a, range_check b) {
  quantity const length = a.extent[0] * a.stride[0];
  if (a.most_rise != 0 || !have_a_sum(a.offset, length) || b.offset != a.offset + length) return false;
  b.offset = a.offset;
  b.extent[0] = a.extent[0];
  return a == b;
}

constexpr vec<range_check> range_checks(graph const& g) {
  vec<range_check> checks{};
  for (int i = 0, end = g.size(); i < end; ++i) {
    node const& n = g[i];
    if (!n.op->states_range) continue;
    vec<shown_elements> shown{};
    add_shown(g, g.input(n, 0), shown);
    for (shown_elements const& e : shown) {
      range_check const check = check_of(e, n);
      bool known = false;
      for (range_check& other : checks) {
        if (!known && goes_on(other, check)) {
          other.extent[0] = other.extent[0] + check.extent[0];
          known = true;
        }
        known = known || other == check;
      }
      if (!known) checks.push_back(check);
    }
  }
  return checks;
}

}  // namespace tx::exec::detail
