// Second derivatives of ops against central differences of first ones, in f64.
#pragma once

#include "../interpreter/passes.hpp"
#include "../ops/check_op.hpp"
#include "../ops/structural_rules.hpp"

#include <tx/ops/mul.hpp>
#include <tx/ops/sum.hpp>

// The gradients of s = sum over operands of (gradient of sum(y w) by it, times a direction), y = build(x...): told by a
// second backward pass, and measured by central differences of s, which is made of first derivatives alone.
inline void check_second(std::string const& name, std::vector<array> const& args, op_builder const& build,
                         double tolerance = 1e-6) {
  INFO(name);
  built_op op(args, build);
  tx::graph& g = op.g;
  number_source numbers(11);
  std::vector<array> all = args;
  all.push_back(numbers.spread(op.result.dims(), 0.3, 1.7));
  g.gradients_again = true;  // as tx::grad says
  tx::vec<int> const first = op.differentiate(all.back());
  g.gradients_again = false;
  tx::vec<int> leaves{};
  std::vector<std::size_t> which;  // argument of each
  tx::var slope{};
  for (std::size_t k = 0; k < args.size(); ++k) {
    if (!tx::is_float(args[k].type)) continue;
    leaves.push_back(op.leaves[k].id);
    which.push_back(k);
    int const gradient = first[leaves.size() - 1];
    if (gradient < 0) continue;
    all.push_back(numbers.spread(args[k].dims, -1, 1));
    tx::attributes const at{{static_cast<std::int64_t>(all.size()) - 1}};
    tx::var const part =
        tx::sum_all(tx::var{&g, gradient} * tx::emit_leaf(g, tx::input_info, {tx::dtype::f64, args[k].dims}, at));
    slope = slope.valid() ? slope + part : part;
  }
  REQUIRE(slope.valid());
  g.outputs.push_back({slope.id});
  tx::graph const once = g;
  tx::vec<int> const second = at_run_time::gradients(g, slope.id, leaves);
  REQUIRE(g.no_gradient.op == nullptr);
  for (int id : second)
    if (id >= 0) g.outputs.push_back({id});
  for (bool simplified : {false, true}) {
    auto const out = run_graph(g, all, simplified);
    std::size_t next = 1;
    for (int l = 0; l < leaves.size(); ++l) {
      INFO("operand " << which[static_cast<std::size_t>(l)] << (simplified ? ", simplified" : ""));
      std::size_t const n = args[which[static_cast<std::size_t>(l)]].v.size();
      values measured, told;
      for (std::size_t e = 0; e < n; e += n / 6 + 1) {
        auto slope_at = [&](double by) {
          std::vector<array> moved = all;
          moved[which[static_cast<std::size_t>(l)]].v[e] += by;
          return run_graph(once, moved, false)[0][0];
        };
        double const h = 1e-3;
        measured.push_back((8 * (slope_at(h) - slope_at(-h)) - (slope_at(2 * h) - slope_at(-2 * h))) / (12 * h));
        told.push_back(second[l] >= 0 ? out[next][e] : 0);
      }
      for (double const m : measured) REQUIRE(std::isfinite(m));
      CHECK(distance(told, measured) < tolerance);
      next += second[l] >= 0;
    }
  }
}
