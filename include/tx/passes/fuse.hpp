// Fusion: nodes become groups, each one kernel. A group works on rows x cols elements and reads each row once: elementwise
// values, reductions of rows, values per row, sums over columns; a product may stand at its head, the rest is its epilogue.
#pragma once

#include <tx/passes/place.hpp>

namespace tx::passes {

enum class level : std::uint8_t { none, full, row, col };  // one value per element, per row; a sum over rows

struct group {
  int region = 0;
  int head = -1;           // a product, or a node that is a kernel of its own
  bool fusible = false;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  bool reduces_rows = false;
  vec<int> nodes{};        // in order
  vec<int> reads{};        // bases read from outside
};

struct fusion {
  vec<group> groups{};       // each depends only on earlier ones of its region
  vec<int> group_of{};       // node -> group, -1 for what needs no kernel
  vec<level> levels{};
  vec<view> logical{};       // as if every value were dense: what fusing asks
  vec<view> physical{};      // as stored: what kernels address
  vec<char> moved{};         // views that are copies
  vec<placement> places{};
};

// Why two neighbouring ops are in different kernels; the text of explain().
enum class fusion_answer : std::uint8_t { fused, other_region, not_fusible, other_space, other_access, order, hazard, full };

constexpr char const* to_text(fusion_answer a) {
  switch (a) {
    case fusion_answer::fused: return "they are fused";
    case fusion_answer::other_region: return "one is inside a repeated block, the other is not";
    case fusion_answer::not_fusible: return "the producer is a kernel of its own";
    case fusion_answer::other_space: return "the consumer has other rows and columns than the producer's kernel";
    case fusion_answer::other_access: return "the consumer needs elements of other rows, or a sum over all rows that is not complete yet";
    case fusion_answer::order: return "another operand of the consumer is computed after the producer's kernel";
    case fusion_answer::hazard: return "the consumer overwrites a value that the kernel still reads";
    default: return "the kernel has as many operations as one may have";
  }
}

namespace detail {

// Extent of the innermost axis that is not 1.
constexpr int inner_extent(shape const& s) {
  for (int i = s.rank - 1; i >= 0; --i)
    if (s.dim[i] != 1) return s.dim[i];
  return 1;
}

// Strides over (rows, cols): false when rows do not lie at one stride or columns are no single axis.
constexpr bool row_col_strides(shape const& s, strided const& at, std::int64_t cols, std::int64_t& row, std::int64_t& col) {
  row = 0;
  col = 0;
  int i = s.rank - 1;
  while (i >= 0 && s.dim[i] == 1) --i;
  if (cols != 1) {
    if (i < 0 || s.dim[i] != cols) return false;
    col = at.stride[i--];
  }
  bool first = true;
  std::int64_t next = 0;
  for (; i >= 0; --i) {
    if (s.dim[i] == 1) continue;
    if (first) row = at.stride[i];
    else if (at.stride[i] != next) return false;
    first = false;
    next = at.stride[i] * s.dim[i];
  }
  return true;
}

class fuser {
 public:
  static constexpr int max_nodes = 96;

  constexpr fuser(graph const& g, bool enabled) : g_(g), enabled_(enabled) {
    vec<strided> plain{};
    plain.reserve(g.size());
    for (int i = 0; i < g.size(); ++i) plain.push_back(dense(g.info(i).dims));
    out.physical = resolve_views(g, storage_order(g), out.moved, false);
    out.logical = resolve_views(g, plain, out.moved, true);
    out.places = place_values(g);
    out.group_of = vec<int>(g.size(), -1);
    out.levels = vec<level>(g.size(), level::none);
    last_reader_ = vec<int>(g.size(), -1);
  }

  constexpr fusion run() {
    for (int i = 0; i < g_.size(); ++i) {
      op_kind const kind = g_[i].op->kind;
      if (out.moved[i] || is_computed(kind)) place(i);
      else if (kind == op_kind::gather_all || kind == op_kind::region) alone(i);
      else if (kind == op_kind::index && needs_storage(i)) open(i);
    }
    return static_cast<fusion&&>(out);
  }

  fusion out{};

 private:
  // Bases of the operands of a node; a moved view reads its input.
  constexpr int inputs_of(int id) const { return g_[id].inputs; }
  constexpr int base_of(int operand) const { return out.logical[operand].base; }

  // An index op that some reader cannot compute in place gets storage.
  constexpr bool needs_storage(int id) const {
    for (int i = id + 1; i < g_.size(); ++i) {
      if (g_[i].op->kind == op_kind::view && !out.moved[i]) continue;
      for (int k = 0; k < inputs_of(i); ++k) {
        int const operand = g_.input(i, k);
        if (base_of(operand) != id) continue;
        bool const inline_ok = (g_[i].op->kind == op_kind::elementwise || g_[i].op->kind == op_kind::row_reduce) && !out.moved[i] &&
                               same_strides(out.logical[operand].at, dense(g_.info(operand).dims), g_.info(operand).dims) &&
                               g_.info(operand).dims.last() == g_.info(id).dims.last() && g_.info(id).dims.last() > 1;
        if (!inline_ok) return true;
      }
    }
    return false;
  }

  constexpr bool is_space_op(int id) const {
    op_kind const k = g_[id].op->kind;
    return k == op_kind::elementwise || k == op_kind::row_reduce || k == op_kind::col_reduce || out.moved[id];
  }

  constexpr level level_in(group const& gr, value_info const& info, bool exact_last) const {
    std::int64_t const count = info.count();
    std::int64_t const inner = exact_last ? info.dims.last() : inner_extent(info.dims);
    if (count == gr.rows * gr.cols && (inner == gr.cols || gr.cols == 1)) return level::full;
    if (count == gr.rows && gr.cols != 1) return level::row;
    return level::none;
  }

  // May node `id` become part of group `at`?
  constexpr fusion_answer fits(int id, int at) const {
    group const& gr = out.groups[at];
    if (gr.region != g_[id].region) return fusion_answer::other_region;
    if (!gr.fusible) return fusion_answer::not_fusible;
    if (gr.nodes.size() >= max_nodes) return fusion_answer::full;
    op_kind const kind = g_[id].op->kind;
    level const mine = kind == op_kind::row_reduce || kind == op_kind::col_reduce ? operand_level(gr, g_.input(id, 0), kind) : level_in(gr, g_.info(id), false);
    if (mine == level::none || (kind == op_kind::row_reduce && mine != level::full)) return fusion_answer::other_space;
    for (int k = 0; k < inputs_of(id); ++k) {
      int const operand = g_.input(id, k);
      int const base = base_of(operand);
      if (out.group_of[base] == at) {
        if (!reads_own_row(gr, operand, base, mine)) return fusion_answer::other_access;
      } else if (out.group_of[base] > at && g_[base].region == gr.region) {
        return fusion_answer::order;
      } else if (g_[base].op->kind == op_kind::index && out.group_of[base] < 0) {
        if (mine != level::full || g_.info(base).dims.last() != gr.cols) return fusion_answer::other_access;
      }
    }
    return overwrites_in_time(id, at) ? fusion_answer::fused : fusion_answer::hazard;
  }

  constexpr level operand_level(group const& gr, int operand, op_kind kind) const {
    value_info const& info = g_.info(operand);
    if (kind == op_kind::row_reduce) return info.count() == gr.rows * gr.cols && info.dims.last() == gr.cols ? level::full : level::none;
    if (info.count() == gr.rows * gr.cols && info.dims.last() == gr.cols) return level::full;
    if (info.count() == gr.rows && info.dims.last() == 1) return level::row;
    return level::none;
  }

  constexpr bool reads_own_row(group const& gr, int operand, int base, level reader) const {
    view const& v = out.logical[operand];
    if (v.at.offset != 0 || v.step != 0 || out.levels[base] == level::col) return false;
    std::int64_t row = 0;
    std::int64_t col = 0;
    if (reader == level::full) {
      if (!row_col_strides(g_.info(operand).dims, v.at, gr.cols, row, col)) return false;
      if (out.levels[base] == level::full) return (gr.cols == 1 || col == 1) && (gr.rows == 1 || row == gr.cols);
      return col == 0 && (gr.rows == 1 || row == 1);
    }
    if (!row_col_strides(g_.info(operand).dims, v.at, 1, row, col)) return false;
    return out.levels[base] == level::row && (gr.rows == 1 || row == 1);
  }

  // A node stored over another value comes after all who read that value; in one kernel only if it reads the same element.
  constexpr bool overwrites_in_time(int id, int at) const {
    placement const& p = out.places[id];
    if (p.kind != place_kind::carry && p.kind != place_kind::replace) return true;
    if (p.kind == place_kind::carry && g_[id].region != g_[p.target].region) return true;  // the first value, before the loop
    for (int k = at; k < out.groups.size(); ++k) {
      group const& other = out.groups[k];
      if (other.region != g_[id].region) continue;
      for (int base : other.reads) {
        if (!same_storage(base, p.target)) continue;
        if (k > at || other.reduces_rows || other.head >= 0 || !dense_reader(k, base)) return false;
      }
    }
    return true;
  }
  constexpr bool same_storage(int a, int b) const {
    if (a == b) return true;
    return (g_[a].op == &parameter_info || g_[a].op == &block_info) && (g_[b].op == &parameter_info || g_[b].op == &block_info);
  }
  constexpr bool dense_reader(int at, int base) const {
    for (int n : out.groups[at].nodes)
      for (int k = 0; k < inputs_of(n); ++k) {
        int const operand = g_.input(n, k);
        if (base_of(operand) != base) continue;
        if (out.levels[n] != level::full || g_.info(operand).count() != g_.info(base).count() ||
            !same_strides(out.logical[operand].at, dense(g_.info(operand).dims), g_.info(operand).dims))
          return false;
      }
    return true;
  }

  constexpr void place(int id) {
    op_kind const kind = g_[id].op->kind;
    if (kind == op_kind::product || !is_space_op(id)) {
      open(id);
      return;
    }
    if (enabled_) {
      int latest = -1;
      int sibling = -1;
      for (int k = 0; k < inputs_of(id); ++k) {
        int const base = base_of(g_.input(id, k));
        if (g_[base].region == g_[id].region && out.group_of[base] > latest) latest = out.group_of[base];
        if (last_reader_[base] > sibling && g_.info(g_.input(id, k)).count() > 1) sibling = last_reader_[base];
      }
      for (int candidate : {latest, sibling}) {
        if (candidate < 0 || candidate < latest || fits(id, candidate) != fusion_answer::fused) continue;
        join(id, candidate);
        return;
      }
    }
    open(id);
  }

  constexpr void open(int id) {
    node const& n = g_[id];
    group gr{};
    gr.region = n.region;
    shape dims = n.info.dims;
    switch (n.op->kind) {
      case op_kind::product:
        gr.head = id;
        gr.fusible = true;
        gr.cols = dims.last();
        break;
      case op_kind::row_reduce:
      case op_kind::col_reduce:
        dims = g_.info(g_.input(n, 0)).dims;
        gr.fusible = true;
        gr.cols = dims.last();
        break;
      case op_kind::index:
        gr.fusible = true;
        gr.cols = dims.last();
        break;
      case op_kind::elementwise:
      case op_kind::view:
        gr.fusible = true;
        gr.cols = inner_extent(dims);
        // An index operand is numbered by its own last axis.
        for (int k = 0; k < n.inputs; ++k)
          if (g_[base_of(g_.input(n, k))].op->kind == op_kind::index) gr.cols = dims.last();
        break;
      default: gr.head = id;
    }
    gr.rows = gr.cols == 0 ? 0 : dims.count() / gr.cols;
    out.groups.push_back(gr);
    join(id, out.groups.size() - 1);
  }

  constexpr void alone(int id) {
    group gr{};
    gr.region = g_[id].region;
    gr.head = id;
    out.groups.push_back(gr);
    join(id, out.groups.size() - 1);
  }

  constexpr void join(int id, int at) {
    group& gr = out.groups[at];
    op_kind const kind = g_[id].op->kind;
    gr.nodes.push_back(id);
    out.group_of[id] = at;
    if (kind == op_kind::row_reduce) {
      out.levels[id] = level::row;
      gr.reduces_rows = true;
    } else if (kind == op_kind::col_reduce) {
      out.levels[id] = level::col;
    } else if (gr.fusible) {
      out.levels[id] = id == gr.head || kind == op_kind::index ? level::full : level_in(gr, g_.info(id), false);
    }
    for (int k = 0; k < inputs_of(id); ++k) {
      int const base = base_of(g_.input(id, k));
      last_reader_[base] = gr.fusible ? at : last_reader_[base];
      if (out.group_of[base] != at) gr.reads.push_back(base);
    }
  }

  graph const& g_;
  bool enabled_;
  vec<int> last_reader_{};
};

}  // namespace detail

constexpr fusion fuse(graph const& g, bool enabled = true) { return detail::fuser(g, enabled).run(); }

}  // namespace tx::passes
