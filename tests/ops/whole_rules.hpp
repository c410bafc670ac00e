// Teaches the interpreter the `whole` ops of these tests: their rules, run share by share on a result that holds NaN
// before, so that what no share writes, or what depends on the shares, shows.
#pragma once

#include "../nn/evaluate.hpp"

#include <algorithm>
#include <limits>
#include <utility>

template <tx::op_info const* Op>
struct knows_whole {
  knows_whole() {
    whole_rules()[Op] = [](tx::node const& n, tx::whole_operand<double> out, operands const& in) {
      std::fill_n(out.data, out.dims.count(), std::numeric_limits<double>::quiet_NaN());
      bool const known = run<1>(n, out, in) || run<2>(n, out, in) || run<3>(n, out, in) || run<5>(n, out, in);
      if (!known) throw std::runtime_error(std::string("whole_rules: other inputs of ") + n.op->name);
    };
  }

 private:
  using operands = std::vector<tx::whole_operand<double const>>;
  using rule = typename tx::partitioned_rule<Op>::type;

  // False where the node has, or the rule takes, another number of inputs.
  template <int Inputs>
  static bool run(tx::node const& n, tx::whole_operand<double> out, operands const& in) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      if constexpr (requires { rule::run(0, 1, n.at, out, in[K]...); }) {
        constexpr int shares = 5;
        for (int s = 0; s < shares && n.inputs == Inputs; ++s) rule::run(s, shares, n.at, out, in[K]...);
        return n.inputs == Inputs;
      }
      return false;
    }(std::make_index_sequence<Inputs>{});
  }
};
