// Teaches the interpreter the `whole` ops of these tests: their rules, run share by share on a result that holds NaN
// before, so that what no share writes, or what depends on the shares, shows.
#pragma once

#include "check_op.hpp"

template <tx::op_info const* Op, int... Inputs>
struct knows_whole {
  knows_whole() {
    whole_rules()[Op] = [](tx::node const& n, tx::whole_operand<double> out,
                           std::vector<tx::whole_operand<double const>> const& in) {
      constexpr int shares = 5;
      for (std::int64_t e = 0; e < out.dims.count(); ++e) out.data[e] = std::numeric_limits<double>::quiet_NaN();
      bool known = false;
      for (int s = 0; s < shares; ++s)
        ((n.inputs == Inputs ? (run(s, shares, n, out, in, std::make_index_sequence<Inputs>{}), known = true) : false),
         ...);
      if (!known) throw std::runtime_error(std::string("whole_rules: other inputs of ") + n.op->name);
    };
  }

 private:
  template <std::size_t... K>
  static void run(int s, int shares, tx::node const& n, tx::whole_operand<double> out,
                  std::vector<tx::whole_operand<double const>> const& in, std::index_sequence<K...>) {
    tx::partitioned_rule<Op>::type::run(s, shares, n.at, out, in[K]...);
  }
};
