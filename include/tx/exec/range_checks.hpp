// What an op promises of an argument's elements (ops/in_range.hpp), for the executor to check before a run.
#pragma once

#include <tx/exec/lowered.hpp>
#include <tx/passes/fusion.hpp>

namespace tx::exec::detail {

constexpr vec<range_check> range_checks(graph const& g, passes::fusion const& f) {
  vec<range_check> checks{};
  for (int i = 0; i < g.size(); ++i) {
    node const& n = g[i];
    if (!n.op->states_range) continue;
    passes::view const& seen = f.physical[g.input(n, 0)];
    node const& base = g[seen.base];
    bool const whole = seen.at.offset == 0 && g.info(g.input(n, 0)).count() == base.info.count();
    if (base.op != &input_info || !whole) continue;  // other elements of an argument may mean something else
    range_check const check{static_cast<int>(base.at.v[0]), n.at.v[0], n.at.v[1], n.at.v[2]};
    bool known = false;
    for (range_check const& other : checks) known = known || other == check;
    if (!known) checks.push_back(check);
  }
  return checks;
}

}  // namespace tx::exec::detail
