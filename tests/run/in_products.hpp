// The CPU backend with attention written out as products, beside which its kernels are held, and how many kernels of attention a step has.
#pragma once

#include <tx/backends/cpu.hpp>

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
