// A typed function recorded as a program does it, run by the interpreter in f64.
#pragma once

#include "../furthest.hpp"
#include "../interpreter/evaluator.hpp"
#include "../interpreter/passes.hpp"

#include <tx/passes/rewrite.hpp>
#include <tx/step/function.hpp>

#include <catch2/catch.hpp>

// The results of F(model, inputs...), one list for each. `block`: the parameters, laid out as the model's are.
template <auto F, class Model = tx::no_model>
std::vector<values> traced(std::vector<values> const& inputs, values const& block = {}) {
  tx::graph g{};
  tx::function<F, Model>::record(g);  // verified
  REQUIRE(g.no_gradient.op == nullptr);
  auto run = [&](tx::graph const& program) {
    evaluator const result(at_run_time::verified(program), [&](tx::node const& leaf) {
      auto const k = leaf.at.v[0];
      if (leaf.op == &tx::input_info) return inputs.at(static_cast<std::size_t>(k));
      return values(block.begin() + k, block.begin() + k + leaf.info.count());
    });
    std::vector<values> all;
    for (tx::output const& o : program.outputs) all.push_back(result[o.value]);
    return all;
  };
  auto const recorded = run(g);
  auto const simplified = run(at_run_time::simplified(g));
  for (std::size_t k = 0; k < recorded.size(); ++k)
    if (!(distance(simplified[k], recorded[k]) < 1e-12)) FAIL("simplified, result " << k << " is another");
  return simplified;
}

// The same number of elements, between -1 and 1, for each seed others.
inline values some(std::size_t count, double seed = 0) {
  values v(count);
  for (std::size_t i = 0; i < count; ++i) v[i] = std::sin(1.7 * static_cast<double>(i + 1) + seed);
  return v;
}

// Central differences, by each element of `at`, of one number.
template <class F>
values differences(values at, F const& number) {
  values slopes;
  double const h = 1e-3;
  for (double& x : at) {
    double const here = x;
    auto moved = [&](double by) {
      x = here + by;
      double const result = number(at);
      x = here;
      return result;
    };
    slopes.push_back((8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h));
  }
  return slopes;
}
