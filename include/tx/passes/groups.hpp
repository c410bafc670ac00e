// What fusion finds: groups, each one kernel, and how their values are read and stored.
#pragma once

#include <tx/passes/storage.hpp>

namespace tx::passes {

// What a value is within a kernel of rows x cols.
enum class level : std::uint8_t {
  none,  // nothing of it
  full,  // a number for each element
  row,   // a number for each row
  col    // a number for each column: a sum over rows
};

// `matrices` products [rows, depth] x [depth, cols] of a type.
struct product_shape {
  dtype type;
  std::int64_t matrices, rows, cols, depth;
};

constexpr product_shape product_shape_of(graph const& g, node const& n) {
  shape const &all = n.info.dims, &left = g.info(g.input(n, 0)).dims;
  std::int64_t matrices = 1;
  for (int a = 0; a < all.rank - 2; ++a) matrices *= all.dim[a];
  return {g.info(g.input(n, 0)).type, matrices, all.dim[all.rank - 2], all.dim[all.rank - 1], left.dim[left.rank - 1]};
}

// What a kernel of a target may hold; see plan/target.hpp.
struct kernel_limits {
  int nodes = 96;
  int values = 150;         // inputs and nodes; exec::max_values is what any kernel can number
  bool epilogues = true;    // may a product go on with what is computed of its rows?
  // Products that go on with nothing but what a library does as it stores them (ends_with of fusion_rules.hpp): any other epilogue would be a kernel of its own. Null: none.
  bool (*ends_product)(product_shape const&) = nullptr;
};

struct group {
  int region = 0;
  int head = -1;           // a product, or a node that is a kernel of its own
  bool fusible = false;
  bool ends = false;       // only what ends_with of fusion_rules.hpp lists joins the head
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  factors of_rows{}, of_cols{}, of_count{};  // bounded extents that they, and their product, are in proportion to
  bool reduces_rows = false;
  int last_sweep = 0;       // over the columns of a row; see sweep_in() of fusion_rules.hpp
  bool overwrites = false; // stores over a carry or a leaf
  int band = -1;           // number of the loop over bands it runs in; see bands.hpp
  vec<int> nodes{};        // in order
  vec<int> reads{};        // bases read from outside
};

// Groups that run one after the other for a few matrices of a batch, then for the next.
struct band_loop {
  std::int64_t matrices = 1;
  std::int64_t each = 1;  // matrices of a band
  factors of_matrices{};  // bounded extents that their number is in proportion to
  factors of_matrix{};    // and a matrix of what they hand on
};

struct fusion {
  vec<group> groups{};       // each depends only on earlier ones of its region
  vec<int> group_of{};       // node -> group, -1 for what needs no kernel
  vec<level> levels{};
  storage where{};           // of the graph's values
  vec<band_loop> bands{};
  vec<char> handed_on{};     // values of which there is a band at a time
};

// Does the arena hold that buffer? Arguments of the program, parameters and numbers known while compiling lie elsewhere.
constexpr bool stored_in_arena(graph const& g, fusion const& f, int root) {
  op_info const* op = g[root].op;
  return op->kind != op_kind::constant && !(op->kind == op_kind::index && f.group_of[root] < 0) &&
         (op->kind != op_kind::leaf || op == &argument_info);
}
// The region in whose time it is there: a carry outlives its loop, and what a loop stacks that takes turns the loop around that.
constexpr int home_of_buffer(graph const& g, int root) {
  node const& n = g[root];
  bool const outlives = n.op == &argument_info || (is_stacked_result(g, root) && g.regions[run_region(g[g.input(n, 0)].at)].turn);
  return outlives ? g.regions[n.region].parent : n.region;
}

// Why two neighbouring ops are in different kernels; the text of explain().
enum class fusion_answer : std::uint8_t {
  fused, other_region, not_computed, view, not_fusible, other_space, other_access, order, hazard, full
};

constexpr char const* to_text(fusion_answer a) {
  switch (a) {
    case fusion_answer::fused: return "they are fused";
    case fusion_answer::other_region: return "one is inside a repeated block, the other is not";
    case fusion_answer::not_computed: return "the producer is not computed: it is an argument, a parameter, a state or a constant";
    case fusion_answer::view: return "the consumer is a view, which is no part of a kernel: its readers address what it shows";
    case fusion_answer::not_fusible: return "the producer is a kernel of its own";
    case fusion_answer::other_space: return "the consumer has other rows and columns than the producer's kernel";
    case fusion_answer::other_access: return "the consumer needs elements of other rows, or a sum over all rows that is not complete yet";
    case fusion_answer::order: return "another operand of the consumer is computed after the producer's kernel";
    case fusion_answer::hazard: return "the consumer overwrites a value that the kernel still reads";
    default: return "the kernel has as many operations as one may have";
  }
}

namespace detail {

// Strides over (rows, cols).
struct row_col {
  bool found = false;  // false when rows do not lie at one stride or columns are no single axis
  quantity row{}, col{};
};
constexpr row_col row_col_strides(shape const& s, strided const& at, bounded cols) {
  row_col of{};
  int i = s.rank - 1;
  while (i >= 0 && s.dim[i] == 1) --i;
  if (cols.max != 1) {
    if (i < 0 || !(s.at(i) == cols)) return of;
    of.col = at.stride[i--];
  }
  bool first = true;
  quantity next{};
  for (; i >= 0; --i) {
    if (s.dim[i] == 1) continue;
    if (first) of.row = at.stride[i];
    else if (at.stride[i] != next) return of;
    first = false;
    next = at.stride[i] * s.at(i);
  }
  of.found = true;
  return of;
}

}  // namespace detail

}  // namespace tx::passes
