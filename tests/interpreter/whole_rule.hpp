// Teaches the interpreter `whole` ops: their rules, run share by share on a result that holds NaN before, so that what no share writes, or
// what depends on the shares, shows.
#pragma once

#include <tx/ops/partitioned.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// What runs `whole` ops beyond the few that the interpreter knows.
using whole_results = std::vector<tx::whole_operand<double>>;
using whole_rule = std::function<void(tx::node const&, whole_results const&, std::vector<tx::whole_operand<double const>> const&)>;
inline std::map<tx::op_info const*, whole_rule>& whole_rules() {
  static std::map<tx::op_info const*, whole_rule> rules;
  return rules;
}

template <tx::op_info const* Op>
struct knows_whole {
  knows_whole() {
    whole_rules()[Op] = [](tx::node const& n, whole_results const& out, operands const& in) {
      for (auto const& o : out) std::fill_n(o.data, o.dims.count(), std::numeric_limits<double>::quiet_NaN());
      bool const known = any<1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13>(n, out, in);
      if (!known) throw std::runtime_error(std::string("whole_rules: other inputs of ") + n.op->name);
    };
  }

 private:
  using operands = std::vector<tx::whole_operand<double const>>;
  using rule = typename tx::partitioned_rule<Op>::type;

  template <int... Inputs>
  static bool any(tx::node const& n, whole_results const& out, operands const& in) {
    return (run<Inputs>(n, out, in, std::make_index_sequence<static_cast<std::size_t>(Op->results)>{}) || ...);
  }
  // False where the node has, or the rule takes, another number of inputs.
  template <int Inputs, std::size_t... O>
  static bool run(tx::node const& n, whole_results const& out, operands const& in, std::index_sequence<O...>) {
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
      if constexpr (requires { rule::run(0, 1, n.at, out[O]..., in[K]...); }) {
        constexpr int shares = 5;
        for (int s = 0; s < shares && n.inputs == Inputs; ++s) rule::run(s, shares, n.at, out[O]..., in[K]...);
        return n.inputs == Inputs;
      }
      return false;
    }(std::make_index_sequence<Inputs>{});
  }
};
