// A program as data: instructions, operands and where everything lies. Made by lowering, frozen, walked by an executor.
#pragma once

#include <tx/core/alignment.hpp>
#include <tx/graph/graph.hpp>
#include <tx/plan/signature.hpp>

namespace tx::exec {

// Bases that offsets count from: the arena, the run-time scalars, flat blocks (parameters, then states), the arguments.
inline constexpr int base_arena = 0;
inline constexpr int base_scalars = 1;
inline constexpr int base_block = 2;
inline constexpr int max_blocks = 8;
inline constexpr int base_input = base_block + max_blocks;
inline constexpr int max_inputs = 22;
inline constexpr int bases = base_input + max_inputs;

// Which numbers an operand draws that is no memory (access::random). Its rows are counted over the whole batch: over the shards of all ranks, and over
// the parts of each. A shard begins where it would if each before it had as many rows as are planned for, since ranks may have more and fewer.
//
//   [texts <= 8, 4] on two ranks, of which the first has 3 texts: the second one's rows are counted from 8
struct random_source {
  int stream = 0;       // the op's number
  int shard = 0;        // of this rank's batch
  int rows = 0;         // of a part, in a run
  int planned_rows = 0; // of a part, at most
  int parts = 1;        // of a shard, which may be the only one
  bool in_parts = false;  // is it drawn in the loop over them?
  int runs_in_part = 1; // iterations of the loops inside it
  int runs_in_portion = 0;  // of a loop whose iterations ranks divide, those of one rank, with the loops inside it; 0: there is none
  int own = 0, all = 0; // where ranks divide an axis, rows of it that one has, and all: see core/random_rows.hpp

  constexpr bool operator==(random_source const&) const = default;
};

// A number of an operand that is in proportion to bounded extents: which, and what it is. The operand has it at its most; a run has what there is.
enum class operand_field : std::uint8_t { offset, matrix, step, extent, stride, row, col, random_rows };
struct varying_number {
  operand_field field = operand_field::offset;
  int axis = 0;  // step: which loop's
  quantity value{};

  constexpr bool operator==(varying_number const&) const = default;
};

// Of what is fetched for the next iteration of a loop: how many iterations on that is. The last one fetches its own.
struct next_iteration {
  int loop = -1;  // of those around, outermost first; -1: an operand is of the iteration at hand
  int last = 0;   // its last index
  bool reversed = false;

  constexpr std::int64_t from(std::int64_t index) const { return reversed ? (index > 0 ? -1 : 0) : (index < last ? 1 : 0); }
};

// Where an operand lies, and how rows (or matrices of a batch) and columns follow each other; strides in elements.
struct operand_ref {
  int base = base_arena;
  dtype type = dtype::f32;
  random_source random{};   // access::random, which lies nowhere
  int root = -1;            // base_arena, while planning: the node in whose buffer `offset` counts; then it counts in the arena
  std::int64_t offset = 0;  // bytes
  std::int64_t matrix = 0;  // bytes of one matrix where its buffer holds one band, whose first matrix is at the front; else 0
  std::int64_t step[max_loops] = {};  // bytes per iteration of each loop around, outermost first
  next_iteration next{};
  int rank = 0;             // of the row index, outermost axis first
  int extent[max_rank] = {};  // `whole` kernels: the shape
  std::int64_t stride[max_rank] = {};
  std::int64_t row = 0;     // products: between rows of a matrix
  std::int64_t col = 0;     // between columns
  double value = 0;         // access::constant
  int first_varying = 0;    // numbers of it that vary, in the program's table of those
  int varying = 0;
};

// Of a `whole` kernel's operand.
constexpr std::int64_t elements_of(operand_ref const& r) {
  std::int64_t n = 1;
  for (int i = 0; i < r.rank; ++i) n *= r.extent[i];
  return n;
}

struct call {
  int kernel = 0;
  int first = 0;            // operands[first ...): inputs, then outputs; products: left, right, then the epilogue's others
  int operands = 0;
  std::int64_t rows = 0;    // of all batches together
  std::int64_t cols = 0;
  std::int64_t depth = 0;   // products: the summed extent
  std::int64_t batch = 1;   // products: matrices
  std::int64_t scratch = 0; // bytes from the start of the arena
  factors of_rows{}, of_cols{}, of_depth{}, of_batch{};  // bounded extents that they are in proportion to
  attributes at{};
  step_phase when = step_phase::forward;  // of the op at its head, else of the last
  int first_update = -1;    // of its ops, the head's being 0, where an update follows a product; -1: none does
  int first_site = -1;      // of its ops' lines, the head's first; -1: none is known
};

enum class instruction_kind : std::uint8_t { call, loop };

struct instruction {
  instruction_kind kind = instruction_kind::call;
  int index = 0;  // of the call, or of the region to run
  int together = 1;  // calls: so many, from this one on, may be started as one (plan/together.hpp); 0: this one with those before it
};

struct loop {
  int first = 0;  // instructions[first .. first + count)
  int count = 0;
  int iterations = 1;
  int around = 0;             // loops that it is in
  bool reversed = false;
  bool parts = false;         // iterations are parts of a batch
  turns turn{};               // as region::turn
  int of_ranks = 0;           // as region::of_ranks
  std::int64_t band = 0;      // not 0: iterations are over bands of so many matrices,
  std::int64_t matrices = 0;  // of so many,
  factors of_matrices{};      // bounded extents that their number is in proportion to,
  factors of_matrix{};        // and each of them: of smaller ones more make a band
};

enum class kernel_kind : std::uint8_t { fused, gemm, whole, collective, zero };

// A distinct kernel: its signature lists. Op: what is known of ops, all of it while compiling, op_facts at run time (tables.hpp).
template <class Op>
struct basic_kernel_sig {
  kernel_kind kind = kernel_kind::fused;
  Op op{};                      // whole, collective
  dtype type = dtype::f32;      // gemm: of the operands
  int columns = 0;              // of a row, as the type of a fused group has it (signature.hpp)
  int first_in = 0, ins = 0;
  int first_let = 0, lets = 0;
  int first_out = 0, outs = 0;
};
using kernel_sig = basic_kernel_sig<op_info const*>;

// A result as the caller sees it: dense, at an offset in the arena.
struct result_ref {
  value_info info{};
  std::int64_t offset = 0;  // bytes
};

// An argument whose elements must lie in [first, end), or equal `also`. Which elements: those from `offset` on, so many along each axis, and of each
// loop that sees a slice.
struct range_check {
  static constexpr int max_axes = max_rank + max_loops;
  int input = 0;
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::int64_t also = 0;
  std::int64_t most_rise = 0;  // above 0: elements never fall along the last axis, and rise by so much at most; or range_promise::start
  factors of_end{};            // if any, `end` less `beyond` is a bounded extent
  std::int64_t beyond = 0;
  quantity offset{};
  quantity extent[max_axes] = {exactly(1), exactly(1), exactly(1), exactly(1), exactly(1), exactly(1), exactly(1), exactly(1), exactly(1), exactly(1)};
  quantity stride[max_axes] = {};
  constexpr bool operator==(range_check const&) const = default;
};

// Bytes a program needs, known while compiling.
struct memory_use {
  std::int64_t parameters = 0;
  std::int64_t optimizer = 0;    // state blocks
  std::int64_t activations = 0;  // the most that is kept of the forward pass for backward at one moment
  std::int64_t gradients = 0;    // the most that backward and update keep of their own values at one moment
  std::int64_t workspace = 0;    // scratch of the kernel that needs most
  std::int64_t arena = 0;        // everything but parameters, state and arguments
  std::int64_t arguments = 0;    // copies of a run's arguments and scalars, on a target with a memory of its own
  std::int64_t largest_live = 0; // the sum of live bytes at its highest: what no arena could undercut
  std::int64_t on_host = 0;      // of the optimizer's: what lies in the host's memory, of a target with a memory of its own (tx::offload)
  std::int64_t peak = 0;         // parameters + optimizer + arena + arguments, without what lies on the host
  std::int64_t recomputed_flops = 0;  // of a step, for products that a budget of activations has computed again
};

}  // namespace tx::exec
