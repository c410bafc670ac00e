// What an op is: its name, shape rule, gradient and class. One constexpr object per op; its address is its key.
#pragma once

#include <tx/core/fixed_string.hpp>
#include <tx/core/quantity.hpp>

namespace tx {

// How passes treat an op. Which ops a pass knows by name besides the leaves and what makes up regions: docs/design.md, "An op".
enum class op_kind : std::uint8_t {
  leaf,         // a value from outside: input, parameter, scalar, argument of a region
  constant,     // one number, bits in attribute 0
  index,        // computed from the position of an element: iota (integers), or drawn for it (`random`)
  elementwise,  // scalar_rule<&info> applied to equal shapes
  row_reduce,   // [..., C] -> [..., 1]; scalar_rule is the combining function
  col_reduce,   // [..., C] -> [C]: the sum over all leading axes
  view,         // moves no element: reshape, transpose, broadcast, slice
  product,      // [..., M, K] x [..., K, N] -> [..., M, N]
  whole,        // partitioned_rule<&info> sees whole dense operands; may have several results
  gather_all,   // lays its inputs end to end, in one flat block or along an axis: planned in place
  region,       // runs a region; results are read through `result` nodes
  result,       // one result of a region node, or of an op with several
  collective,   // acts on all ranks
};

// Numbers that belong to a node: axes, permutation, offsets. Their meaning is the op's.
struct attributes {
  std::int64_t v[max_rank] = {};

  constexpr bool operator==(attributes const&) const = default;
};

// Where the elements of a value lie: element (i0, i1, ...) is at offset + i0 stride[0] + i1 stride[1] + ...
struct strided {
  quantity offset{};
  quantity stride[max_rank] = {};
};

// Elements start, start + step, ... (`count` of them) along one axis, all along the others; axis -1: everything. Of [B S, H], B and S bounded,
// the first rows of each S are {0, 0, B, S}.
struct selection {
  int axis = -1;
  std::int64_t start = 0;
  quantity count{}, step = exactly(1);

  constexpr bool operator==(selection const&) const = default;
  constexpr explicit operator bool() const { return axis >= 0; }
};

struct vjp_context;
struct simplify_context;

struct op_info {
  char const* name;
  op_kind kind;
  int arity;  // -1: any number
  // Shape rule; throws invalid(...) with what is wrong and how to fix it.
  value_info (*infer)(value_info const* in, int count, attributes const& at);
  // Adds the gradients of its inputs; null: the op has none.
  void (*vjp)(vjp_context& c) = nullptr;
  // Returns the id of an equal, simpler value, or -1.
  int (*simplify)(simplify_context& c) = nullptr;
  // Views: how the strides over the input become strides over the result; false where elements would have to move. Ops
  // that move them may have it too, for what asks where they come from.
  bool (*restride)(strided& s, shape const& from, shape const& to, attributes const& at) = nullptr;
  // Views: a selection of the result becomes the one of the input it is read from, and `at` the attributes of the view from
  // that to the selected result; false where there is none. Null: a view that keeps every element in its place.
  bool (*narrow)(selection& s, shape const& from, shape const& to, attributes& at) = nullptr;
  // The scalar rule in double, for folding; null where it cannot be folded.
  double (*fold)(double const* in) = nullptr;
  // Reductions: two elements, or sums of such, combined; null where only kernels can. For explaining what a kernel computed.
  double (*combine)(double a, double b) = nullptr;
  double nothing = 0;  // reductions: what no elements reduce to
  // Whole: an op of several results. Its node has no value of its own but `result` nodes directly behind it, of which this says the types;
  // `infer` is the first one's.
  value_info (*infer_result)(value_info const* in, int count, attributes const& at, int k) = nullptr;
  int results = 1;
  // Whole: what is read of input `number`, `of`, where a part of result 0 is all that is wanted; `at` becomes the attributes of that. Null: no
  // less than everything.
  selection (*part_read)(selection const& part, int number, value_info const& of, attributes& at) = nullptr;
  bool (*can_narrow)(selection const& part, attributes const& at) = nullptr;
  int multiplied = 0;  // whole: how many of the first operands are multiplied with each other, so that mixed precision rounds them
  bool variable = false;       // a view that gradients are taken by: it is no number, also where what it shows is one
  bool states_range = false;   // a view of whose operand's elements something is promised; checked where that shows an argument, see ops/in_range.hpp
  bool random = false;         // index: drawn for each element, not a position along an axis
  bool costly = false;         // worth keeping rather than computing twice within a row
  bool differentiable = true;  // false: gradients stop here without an error
  bool over_first = false;     // whole, collective: the result may lie over input 0, of which a share reads what it writes alone
  bool each_element = false;   // collective: an element of the result is made of the ranks' elements in its place alone
  bool begins = false;         // collective: its result is not there before an op that awaits it, which reads it alone
  bool fetches_next = false;   // collective: of its input, a slice of a leaf, it sees that of the next iteration; in the last one its own
  bool awaits = false;         // collective: input 0 is such a result, input 1 what that was begun with, which stays as it is until then
  bool along_axis = false;     // collective: acts on each line of an axis, attribute 0, by itself
  bool computed_again = false; // by a backward pass, for which a repeated block never keeps it
  bool draws = false;          // whole: random numbers are drawn where its kernel needs them, not read
  std::uint32_t key = static_cast<std::uint32_t>(fnv1a(name));  // for hashing: the order of addresses is no constant
};

// The arithmetic of an elementwise op or reduction: `template <class V> static V apply(V...)` on scalars and packets.
template <op_info const* Op>
struct scalar_rule;

// A `whole` op: `run(share, shares, out, in...)` does a share of the work; shares write to different places.
template <op_info const* Op>
struct partitioned_rule;

}  // namespace tx
