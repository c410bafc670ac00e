// An optimizer's update as a graph of its own, interpreted in f64, with its states from step to step.
#pragma once

#include "../interpreter/evaluator.hpp"
#include "../interpreter/passes.hpp"

#include <tx/passes/rewrite.hpp>
#include <tx/train/optimizer.hpp>

#include <catch2/catch.hpp>

// On tensors [own] or, one for each iteration of a repeat, [iterations, own].
template <class Optimizer>
class interpreted {
 public:
  interpreted(tx::shape const& dims, int own_rank) {
    using namespace tx;
    state_kinds const kinds = Optimizer::states;
    value_info const whole{dtype::f64, dims}, number{dtype::f64, shape{}};
    auto const leaf = [&](int k, value_info const& info) { return emit_leaf(g_, input_info, info, attributes{{k}}); };
    update_context u{};
    u.parameter = leaf(0, whole);
    u.gradient = leaf(1, whole);
    u.state.count = kinds;
    for (int s = 0; s < kinds; ++s) {
      u.state.none[s] = !detail::has_state(kinds.of(s), own_rank);
      if (u.state.none[s]) continue;
      value_info const info = detail::state_info(kinds.of(s), whole, own_rank);
      u.state[s] = leaf(2 + s, info);
      states[static_cast<std::size_t>(s)].assign(static_cast<std::size_t>(info.count()), 0.0);
    }
    u.rate = leaf(count - 3, number);
    u.decay = leaf(count - 2, number);
    u.step = leaf(count - 1, number);
    u.own_rank = own_rank;
    g_.outputs.push_back({Optimizer::update(u).id});
    REQUIRE(g_.info(g_.outputs[0].value).dims == dims);
    for (int s = 0; s < kinds; ++s) {
      if (u.state.none[s]) continue;
      REQUIRE(u.state[s].info() == detail::state_info(kinds.of(s), whole, own_rank));
      g_.outputs.push_back({u.state[s].id});
    }
    g_ = at_run_time::simplified(g_);
  }
  void step(values& p, values const& gradient, double rate, double decay) {
    evaluator const result(g_, [&](tx::node const& leaf) -> values {
      auto const k = static_cast<int>(leaf.at.v[0]);
      if (k < 2) return k == 0 ? p : gradient;
      if (k < count - 3) return states[static_cast<std::size_t>(k - 2)];
      return {k == count - 3 ? rate : k == count - 2 ? decay : steps_};
    });
    int at = 1;
    for (values& state : states)
      if (!state.empty()) state = result[g_.outputs[at++].value];
    p = result[g_.outputs[0].value];
    ++steps_;
  }

  std::vector<values> states = std::vector<values>(static_cast<std::size_t>(tx::state_kinds(Optimizer::states)));  // empty: there is none

 private:
  static constexpr int count = 5 + Optimizer::states;
  tx::graph g_{};
  double steps_ = 1;
};
