// What a body is given to read beside what it was recorded with: for passes that move nodes across its border.
#pragma once

#include <tx/expr/var.hpp>
#include <tx/graph/change.hpp>
#include <tx/graph/leaf.hpp>

namespace tx::passes::detail {

constexpr vec<int> inserted(vec<int> const& list, int number, int value) {
  vec<int> all{};
  for (int k = 0; k < list.size(); ++k) {
    if (k == number) all.push_back(value);
    all.push_back(int{list[k]});
  }
  if (number == list.size()) all.push_back(value);
  return all;
}

// One more argument of a body, before its argument `number`, which is given `value` of around it. The caller counts it among carries, invariants or slices.
constexpr int new_argument(graph& g, int body, int number, int value, value_info const& info) {
  for (int k = number; k < g.regions[body].arguments.size(); ++k) g.nodes[g.regions[body].arguments[k]].at = of_argument(k + 1, body);
  int const here = g.current;
  g.current = body;
  int const argument = emit_leaf(g, argument_info, info, of_argument(number, body)).id;
  g.current = here;
  g.regions[body].arguments = inserted(g.regions[body].arguments, number, argument);
  node& owner = g.nodes[g.regions[body].owner];
  vec<int> given{};
  for (int k = 0; k < owner.inputs; ++k) given.push_back(int{g.operands[owner.first + k]});
  owner.first = g.operands.size();  // its operands go to the end of the list, with one more
  ++owner.inputs;
  for (int id : inserted(given, number, value)) g.operands.push_back(int{id});
  return argument;
}

// The argument among those that is given a value; -1: there is none.
constexpr int argument_given(graph const& g, int body, int value, int first, int end) {
  for (int k = first; k < end; ++k)
    if (g.input(g.regions[body].owner, k) == value) return g.regions[body].arguments[k];
  return -1;
}

// The argument of a body that sees `stacked`, a value around it, slice by slice; it perhaps has one already. slice: what each iteration sees.
//
//   stacked [12, 768, 768] around it, slice [768, 768] -> argument [768, 768], the last of the body's
constexpr int slice_handed_in(graph& g, int body, int stacked, value_info const& slice) {
  region const& b = g.regions[body];
  if (int const known = argument_given(g, body, stacked, b.carries + b.invariants, b.arguments.size()); known >= 0) return known;
  int const argument = new_argument(g, body, b.arguments.size(), stacked, slice);
  ++g.regions[body].stacked;
  return argument;
}
// The same of a value that is one in all iterations.
constexpr int invariant_handed_in(graph& g, int body, int value) {
  region const& b = g.regions[body];
  if (int const known = argument_given(g, body, value, b.carries, b.carries + b.invariants); known >= 0) return known;
  int const argument = new_argument(g, body, b.carries + b.invariants, value, g.info(value));
  ++g.regions[body].invariants;
  return argument;
}
// Another value to where `argument` is, by the way that came: as a slice or an invariant of each body on it. An argument of no body: the value itself.
constexpr int handed_in_as(graph& g, int argument, int value) {
  if (g[argument].op != &argument_info) return value;
  int const r = argument_region(g[argument].at), k = argument_number(g[argument].at);
  int const outside = handed_in_as(g, g.input(g.regions[r].owner, k), value);
  if (k < g.regions[r].carries + g.regions[r].invariants) return invariant_handed_in(g, r, outside);
  return slice_handed_in(g, r, outside, {g.info(outside).type, g.info(outside).dims.inner()});
}

// What stands outside of all bodies for what an argument sees, whole or a slice: -1 where that goes from iteration to iteration, or is a program's own argument.
constexpr int outermost(graph const& g, int id) {
  while (g[id].op == &argument_info) {
    region const& b = g.regions[argument_region(g[id].at)];
    int const k = argument_number(g[id].at);
    if (b.owner < 0 || k < b.carries) return -1;
    id = g.input(b.owner, k);
  }
  return id;
}

// One more carry, behind those that there are: `first` is what the loop is given, `next` what an iteration hands on. The argument.
constexpr int one_more_carry(graph& g, int body, int first, int next, value_info const& info) {
  int const number = g.regions[body].carries, owner = g.regions[body].owner;
  for (int id = 0; id < g.size(); ++id)
    if (g[id].op == &result_info && g.input(id, 0) == owner && result_number(g[id].at) >= number) g.nodes[id].at = of_result(result_number(g[id].at) + 1);
  int const argument = new_argument(g, body, number, first, info);
  g.regions[body].results = inserted(g.regions[body].results, number, next);
  ++g.regions[body].carries;
  return argument;
}

}  // namespace tx::passes::detail
