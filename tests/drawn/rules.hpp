// The `whole` rules that the evaluator is taught for drawn programs.
#pragma once

#include "../ops/structural_rules.hpp"

#include <tx/dist/adasum.hpp>
#include <tx/dist/all_reduce.hpp>
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

// Two ranks that hold the same: its sum is twice that, its adaptive sum that.
struct knows_sums_over_ranks {
  knows_sums_over_ranks() {
    whole_rules()[&tx::all_reduce_info] = [](tx::node const&, whole_results const& out, std::vector<tx::whole_operand<double const>> const& in) {
      for (std::int64_t k = 0; k < out[0].dims.count(); ++k) out[0].data[k] = 2 * in[0].data[k];
    };
    whole_rules()[&tx::adaptive_sum_info] = [](tx::node const&, whole_results const& out, std::vector<tx::whole_operand<double const>> const& in) {
      for (std::int64_t k = 0; k < out[0].dims.count(); ++k) out[0].data[k] = in[0].data[k];
    };
  }
};
inline knows_sums_over_ranks const sum_over_ranks_rules;

}  // namespace drawn
