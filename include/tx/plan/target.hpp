// What planning asks of the machine that it plans for: constants and formulas that only a backend knows. A backend names one as
// `static constexpr tx::target const& target`, and kernels work with what that has promised them.
#pragma once

#include <tx/passes/expand.hpp>
#include <tx/passes/groups.hpp>
#include <tx/passes/widened.hpp>
#include <tx/plan/plan.hpp>

namespace tx {

struct target {
  char const* name;
  // Values handed from product to product are made a few matrices of the batch at a time, about so many bytes; 0: whole batches.
  std::int64_t band_bytes;
  // What a kernel may hold.
  passes::kernel_limits kernel;
  // Rows of a multiple of so many columns, whose number is fixed, have kernels of their own, which cut no vector short; 0: there are none.
  std::int64_t whole_columns;
  // Bytes of scratch of a call, for what its rows keep of values of an earlier sweep and for partial sums.
  std::int64_t (*row_scratch)(exec::row_buffers const& kept, exec::call const& c);
  // Bytes beside those, where the call is a product: [rows, depth] x [depth, cols], c.batch of them.
  std::int64_t (*product_scratch)(exec::row_buffers const& kept, exec::call const& c, exec::operand_ref const& left, exec::operand_ref const& right);
  // Which attention runs as one kernel; null: none, all is written as products.
  passes::attention_kernel runs_attention = nullptr;
  // Bytes of scratch of an op on whole operands, inputs first; null: of none.
  std::int64_t (*whole_scratch)(op_info const& op, exec::call const& c, exec::operand_ref const* operands) = nullptr;
  // Few large kernels rather than little memory: parameters are rounded to halves before the loop that reads them (passes/hoist.hpp), and
  // all gradients are made before the first update, which then is one kernel for each group of parameters.
  bool rounds_ahead = false;
  bool gathers_gradients = false;
  // What a kernel would read it makes again, where it reads all that this is made of anyway (passes/remake.hpp).
  bool remakes = false;
  // Products of one value are started together, so weights and results of such lie side by side (passes/neighbours.hpp).
  bool makes_neighbours = false;
  // How many calls of a kernel are started together at most, a row kernel's or a product's (plan/together.hpp); null: one.
  int (*starts_together)(exec::kernel_sig const&, exec::row_buffers const& kept, exec::call const&) = nullptr;
  // Which products of E4M3 it multiplies; null: none, they are products of halves that hold the same numbers (passes/widened.hpp).
  passes::e4m3_products multiplies_e4m3 = nullptr;
  // Rows of up to so many of them have kernels for their very number, where these make something of a whole row or column and rows lie at one distance: they may hold them in registers. 0: none have.
  std::int64_t known_columns = 0;
  // What such rows as have a multiple of whole_columns begin at multiples of, where their kernel reads and writes them column by column; 0: at anything. Bytes.
  std::int64_t whole_bytes = 0;
  bool has_own_memory = false;  // to which a run's arguments and scalars are copied
  // Words behind those scalars by which the parts of a kernel that run at once count how many of them are done: 0 between kernels.
  std::int64_t counter_words = 0;

  constexpr bool has_whole_columns(std::int64_t cols) const { return whole_columns > 0 && cols % whole_columns == 0; }
  constexpr std::int64_t counter_bytes() const { return counter_words * std::int64_t{sizeof(std::uint32_t)}; }
};

// Does a backend say what programs are planned for?
template <class Backend>
concept has_target = requires {
  { Backend::target } -> std::same_as<target const&>;
};

}  // namespace tx
