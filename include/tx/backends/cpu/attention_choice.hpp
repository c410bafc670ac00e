// Which attention the CPU runs by its kernels, and which goes to products; what the kernels keep meanwhile.
#pragma once

#include <tx/backends/cpu/attention_problem.hpp>
#include <tx/backends/cpu/matrix_unit.hpp>
#include <tx/backends/cpu/shares.hpp>
#include <tx/ops/attention.hpp>
#include <tx/plan/plan.hpp>

namespace tx::backends::cpu {

using exec::aligned, exec::call, exec::operand_ref;

// Bytes of a band (target::band_bytes), and of one head's scores from which on attention is a kernel.
// Scores of one head that stay in the second-level cache go from product to product in bands; longer ones are never computed as a whole, nor are
// packed texts laid out as long as the longest. The kernels compute in f32, or in f64: where a program is compiled for a matrix unit, products of bf16 stay
// products however long texts are.
constexpr std::int64_t band_bytes = std::int64_t{1} << 20;
constexpr bool runs_attention(attention_shape const& a) {
  if (a.packed) return true;
  return !(TX_HAS_AMX && a.type == dtype::bf16) && a.queries * a.keys * size_of(sum_type(a.type)) >= band_bytes;
}

// Of a call of attention or of its gradient (attention_kernels.hpp).
constexpr std::int64_t whole_scratch(op_info const& op, call const& c, operand_ref const* operands) {
  int const first = attention_operands_at(&op);
  if (first < 0) return 0;
  bool const forward = &op == &attention_info;
  operand_ref const &q = operands[first], &k = operands[first + 1];
  attention_facts const facts = attention_facts_of(c.at);
  std::int64_t const head = q.extent[q.rank - 1] / facts.heads;
  if (forward) return shares * aligned(attention_scratch_bytes(head, q.type));
  attention_sizes sizes{q.extent[0], q.extent[1], k.extent[1], facts.heads, facts.key_heads, head};
  if (facts.packed()) sizes = {1, q.extent[0], facts.longest_keys(), facts.heads, facts.key_heads, head};
  return shares * aligned(attention_backward_scratch_bytes(head, q.type)) + attention_sums_bytes(sizes, facts.packed(), q.type);
}

}  // namespace tx::backends::cpu
