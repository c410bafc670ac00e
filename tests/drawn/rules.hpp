// The `whole` rules that the evaluator is taught for drawn programs.
#pragma once

#include "../ops/structural_rules.hpp"

#include <tx/dist/adasum.hpp>
#include <tx/dist/all_reduce.hpp>
#include <tx/dist/overlap.hpp>
#include <tx/dist/divided_parameters.hpp>
#include <tx/dist/shard_add.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/ops/flip.hpp>
#include <tx/ops/pad.hpp>

namespace drawn {

inline knows_whole<&tx::concat_info> const concat_rule;
inline knows_whole<&tx::flip_info> const flip_rule;
inline knows_whole<&tx::pad_info> const pad_rule;
inline knows_whole<&tx::embedding_info> const embedding_rule;
inline knows_whole<&tx::scatter_rows_info> const scatter_rows_rule;
inline knows_whole<&tx::shard_add_info> const shard_add_rule;

// Two ranks that hold the same, of which this is the first: its sum is twice that, its adaptive sum that, its portion of a sum the first rows of twice that. What is gathered is
// its portion twice, which is no rank's in truth, but a function of each line of rows by itself as that is.
struct knows_sums_over_ranks {
  knows_sums_over_ranks() {
    whole_rules()[&tx::all_reduce_info] = [](tx::node const&, whole_results const& out, std::vector<tx::whole_operand<double const>> const& in) {
      for (std::int64_t k = 0; k < out[0].dims.count(); ++k) out[0].data[k] = 2 * in[0].data[k];
    };
    whole_rules()[&tx::adaptive_sum_info] = [](tx::node const&, whole_results const& out, std::vector<tx::whole_operand<double const>> const& in) {
      for (std::int64_t k = 0; k < out[0].dims.count(); ++k) out[0].data[k] = in[0].data[k];
    };
    for (auto const& [begins, whole] : {std::pair{&tx::begun_all_reduce_info, &tx::all_reduce_info}, {&tx::begun_reduce_scatter_info, &tx::reduce_scatter_info}, {&tx::begun_all_gather_info, &tx::all_gather_info},
                                              {&tx::all_gather_of_next_info, &tx::all_gather_info}, {&tx::begun_all_gather_of_next_info, &tx::all_gather_info}})
      whole_rules()[begins] = [as = whole](tx::node const& n, whole_results const& out, std::vector<tx::whole_operand<double const>> const& in) { whole_rules()[as](n, out, in); };
    whole_rules()[&tx::awaited_info] = [](tx::node const&, whole_results const& out, std::vector<tx::whole_operand<double const>> const& in) {
      std::copy_n(in[0].data, out[0].dims.count(), out[0].data);
    };
    teach(tx::own_rows_info, 1);
    teach(tx::reduce_scatter_info, 2);
    teach(tx::all_gather_info, 1);
    teach(tx::gathered_parameter_info, 1);
  }

 private:
  static void teach(tx::op_info const& op, double factor) {
    whole_rules()[&op] = [factor](tx::node const& n, whole_results const& out, std::vector<tx::whole_operand<double const>> const& in) {
      tx::axis_lines const to = tx::lines_along(out[0].dims, tx::axis_of(n.at)), from = tx::lines_along(in[0].dims, tx::axis_of(n.at));
      for (std::int64_t o = 0; o < to.outer; ++o)
        for (std::int64_t k = 0; k < to.extent; ++k)
          for (std::int64_t j = 0; j < to.inner; ++j) out[0].data[to.at(o, k, j)] = factor * in[0].data[from.at(o, k % from.extent, j)];
    };
  }
};
inline knows_sums_over_ranks const sum_over_ranks_rules;

}  // namespace drawn
