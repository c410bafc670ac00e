// The CPU backend with attention written out as products, beside which its kernels are held, and how many kernels of attention a step has.
#pragma once

#include "../furthest.hpp"

#include <tx/backends/cpu.hpp>

#include <catch2/catch.hpp>

#include <vector>

inline constexpr tx::target writes_out = [] {
  tx::target to = tx::cpu_target;
  to.runs_attention = nullptr;
  return to;
}();
struct in_products : tx::cpu {
  static constexpr tx::target const& target = writes_out;
};

template <class Step, tx::target const& To>
int attentions() {
  int n = 0;
  for (auto const& k : Step::template program<To>::kernels) n += k.op == &tx::attention_info || k.op == &tx::biased_attention_gradient_info;
  return n;
}

// Losses, what was mixed, parameters: of one thread and of two to the bit, of others within `bound`.
using values_of_steps = std::vector<std::vector<double>>;
inline void check_agreement(values_of_steps const& one, values_of_steps const& two, std::vector<values_of_steps> const& others, double bound) {
  for (std::size_t k = 0; k < one.size(); ++k) {
    CHECK(one[k] == two[k]);
    for (values_of_steps const& other : others) CHECK(distance(one[k], other[k]) < bound);
  }
}
