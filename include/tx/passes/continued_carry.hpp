// A carry of a loop that a loop in its body goes on from, and hands on: the two may have one buffer. So sums over parts of a batch are carried through the loops over blocks that add to them.
//
//   for each part: S' = for each layer: S'' = S'' + ..., beginning with S
#pragma once

#include <tx/passes/storage.hpp>

namespace tx::passes {

namespace detail {

// The one loop that a value is a carry of and that is the last to read it; -1: there is none.
constexpr int taking_on(graph const& g, int value) {
  int last = -1, times = 0;
  for (int id = value + 1; id < g.size(); ++id)
    for (int in = 0; in < g[id].inputs; ++in) {
      if (g.input(id, in) != value) continue;
      if (g[id].op->kind == op_kind::view) return -1;
      times = id == last ? times + 1 : 1;
      last = id;
      if (g[id].op == &repeat_info && in >= g.regions[run_region(g[id].at)].carries) ++times;
    }
  return last >= 0 && g[last].op == &repeat_info && times == 1 ? last : -1;
}

}  // namespace detail

// Is carry number k of the loop that node `owner` runs one of the loop around it, from one of that one's iterations to the next? Nothing reads what it was before once the inner loop
// has begun: what stands before it is computed before it (overwritten()).
constexpr bool continues_carry(graph const& g, int owner, int k) {
  int const around = g[owner].region;
  if (around == 0) return false;
  region const& outer = g.regions[around];
  int value = g.input(owner, k);
  while (g[value].op == &result_info && !is_stacked_result(g, value) && !g.is_result_of_op(value)) value = g.input(g.input(value, 0), result_number(g[value].at));
  int const carry = g[value].op == &argument_info ? argument_number(g[value].at) : outer.carries;
  if (carry >= outer.carries) return false;
  for (bool passed = false;;) {  // from what the outer loop's iteration begins with on, from loop to loop
    int times = 0;  // that it is a result of the body
    for (int other : outer.results) times += other == value;
    if (times > 0) return passed && times == 1 && outer.results[carry] == value;
    int const loop = detail::taking_on(g, value);
    if (loop < 0) return false;
    int number = 0;
    while (g.input(loop, number) != value) ++number;
    if (value > g.regions[run_region(g[loop].at)].arguments[number]) return false;
    passed = passed || (loop == owner && number == k);
    int next = -1;
    for (int id = loop + 1; id < g.size() && next < 0; ++id)
      if (g[id].op == &result_info && g.input(id, 0) == loop && result_number(g[id].at) == number) next = id;
    if (next < 0) return false;
    value = next;
  }
}

}  // namespace tx::passes
