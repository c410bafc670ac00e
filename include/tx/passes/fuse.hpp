// Fusion: nodes become groups, each one kernel. A group works on rows x cols elements and reads each row once: elementwise
// values, reductions of rows, values per row, sums over columns; a product may stand at its head, the rest is its epilogue.
#pragma once

#include <tx/passes/fusion.hpp>

namespace tx::passes {

namespace detail {

class fuser {
 public:
  static constexpr int max_nodes = 96;
  static constexpr int max_values = 150;  // inputs and nodes; exec::max_values is what a kernel can number

  constexpr fuser(graph const& g, bool enabled) : g_(g), enabled_(enabled) {
    vec<strided> plain{};
    plain.reserve(g.size());
    for (int i = 0; i < g.size(); ++i) plain.push_back(dense(g.info(i).dims));
    out.order = storage_order(g);
    out.physical = resolve_views(g, out.order, out.moved, false);
    out.logical = resolve_views(g, plain, out.moved, true);
    out.places = place_values(g);
    out.group_of = vec<int>(g.size(), -1);
    out.levels = vec<level>(g.size(), level::none);
    last_reader_ = vec<int>(g.size(), -1);
    waiting_ = vec<char>(g.size(), 0);
    is_output_ = vec<char>(g.size(), 0);
    for (output const& o : g.outputs) is_output_[o.value] = 1;
  }

  constexpr fusion run() {
    settle_all();
    return static_cast<fusion&&>(out);
  }

  constexpr void settle_all() {
    // Numbers first: whatever needs them can then join any later group.
    for (int i = 0; i < g_.size(); ++i)
      if (is_number(i)) place(i);
    for (int i = 0; i < g_.size(); ++i)
      if (out.group_of[i] < 0) visit(i);
  }

  // Of a finished fusion: why `consumer` is not in the kernel of `producer`.
  constexpr fusion_answer why(int producer_node, int consumer) {
    if (out.group_of[producer_node] < 0 || out.group_of[consumer] < 0) return fusion_answer::not_fusible;
    if (out.group_of[producer_node] == out.group_of[consumer]) return fusion_answer::fused;
    if (g_[producer_node].region != g_[consumer].region) return fusion_answer::other_region;
    if (!is_space_op(consumer)) return fusion_answer::not_fusible;
    fusion_answer const answer = fits(consumer, out.group_of[producer_node]);
    return answer == fusion_answer::fused ? fusion_answer::order : answer;  // it would fit alone, but not with what it came with
  }

  fusion out{};

 private:
  constexpr int inputs_of(int id) const { return g_[id].inputs; }
  constexpr int base_of(int operand) const { return out.logical[operand].base; }

  // The group of this region that an operand comes from, -1 for what is there from the start.
  constexpr int producer(int id, int operand) const {
    while (g_[operand].op->kind == op_kind::view && !out.moved[operand]) operand = g_.input(operand, 0);
    if (g_[operand].op == &result_info) operand = g_.input(operand, 0);
    return g_[operand].region == g_[id].region ? out.group_of[operand] : -1;
  }

  // One element computed from run-time scalars and constants alone.
  constexpr bool is_number(int id) const {
    node const& n = g_[id];
    if (n.op->kind != op_kind::elementwise || n.info.count() != 1 || n.region != 0 || out.places[id].kind != place_kind::own || n.op == &copy_info)
      return false;
    for (int k = 0; k < n.inputs; ++k) {
      int const base = base_of(g_.input(n, k));
      if (g_[base].op->kind != op_kind::constant && g_[base].op != &scalar_info && !(g_[base].region == 0 && out.group_of[base] >= 0)) return false;
    }
    return true;
  }

  constexpr void visit(int id) {
    op_kind const kind = g_[id].op->kind;
    if (kind == op_kind::region || kind == op_kind::gather_all) {
      settle_operands(id);
      alone(id);
    } else if (kind == op_kind::index) {
      if (needs_storage(id)) open(id);
    } else if (out.moved[id] || is_computed(kind)) {
      if (enabled_ && can_wait(id)) {
        waiting_[id] = 1;
        return;
      }
      place(id);
    }
  }

  // Elementwise nodes that depend on no kernel of this region wait for the first reader and join its kernel.
  constexpr bool can_wait(int id) const {
    if (g_[id].op->kind != op_kind::elementwise || out.places[id].kind != place_kind::own || is_output_[id]) return false;
    for (int k = 0; k < inputs_of(id); ++k) {
      int const operand = g_.input(id, k);
      int const group_id = producer(id, operand);
      if (group_id >= 0 && !(g_.info(base_of(operand)).count() == 1 && group_id == 0)) return false;
    }
    return true;
  }

  // Waiting operands, deepest first.
  constexpr void collect_waiting(int id, vec<int>& list) const {
    for (int k = 0; k < inputs_of(id); ++k) {
      int const base = base_of(g_.input(id, k));
      if (!waiting_[base]) continue;
      bool known = false;
      for (int other : list) known = known || other == base;
      if (known) continue;
      collect_waiting(base, list);
      list.push_back(base);
    }
  }

  constexpr void settle(int id) {
    if (waiting_[id]) waiting_[id] = 0, place(id);
  }
  // Operands must be computed before: a region reads its own through its arguments.
  constexpr void settle_operands(int id) {
    for (int k = 0; k < inputs_of(id); ++k) settle(base_of(g_.input(id, k)));
  }

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
    std::int64_t const inner = exact_last ? info.dims.last() : innermost(info.dims);
    if (count == gr.rows * gr.cols && (inner == gr.cols || gr.cols == 1)) return level::full;
    if (count == gr.rows && gr.cols != 1) return level::row;
    return level::none;
  }

  // May node `id` become part of group `at`?
  constexpr fusion_answer fits(int id, int at) const {
    group const& gr = out.groups[at];
    if (gr.region != g_[id].region) return fusion_answer::other_region;
    if (!gr.fusible) return fusion_answer::not_fusible;
    if (gr.nodes.size() >= max_nodes || gr.nodes.size() + gr.reads.size() + inputs_of(id) >= max_values) return fusion_answer::full;
    op_kind const kind = g_[id].op->kind;
    level const mine = kind == op_kind::row_reduce || kind == op_kind::col_reduce ? operand_level(gr, g_.input(id, 0), kind) : level_in(gr, g_.info(id), false);
    if (mine == level::none || (kind == op_kind::row_reduce && mine != level::full)) return fusion_answer::other_space;
    for (int k = 0; k < inputs_of(id); ++k) {
      int const operand = g_.input(id, k);
      int const base = base_of(operand);
      if (out.group_of[base] == at) {
        if (!reads_own_row(gr, operand, base, mine)) return fusion_answer::other_access;
      } else if (producer(id, operand) > at) {
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
        if (!same_storage(g_, base, p.target)) continue;
        if (k > at || other.reduces_rows || other.head >= 0 || !dense_reader(k, base)) return false;
      }
    }
    return true;
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

  // Waiting nodes that read what `id` is stored over are computed now, but for those that it needs itself.
  constexpr void settle_readers_of(int id, vec<int> const& wanted) {
    placement const& p = out.places[id];
    if (p.kind != place_kind::replace && (p.kind != place_kind::carry || g_[id].region != g_[p.target].region)) return;
    for (int w = 0; w < id; ++w) {
      if (!waiting_[w] || g_[w].region != g_[id].region) continue;
      bool reads = false;
      for (int k = 0; k < inputs_of(w); ++k) reads = reads || same_storage(g_, base_of(g_.input(w, k)), p.target);
      for (int other : wanted) reads = reads && other != w;
      if (reads) settle(w);
    }
  }

  // `id` and the waiting values it needs, in one group if all fit there.
  constexpr bool join_all(int id, vec<int> const& wanted, int at) {
    vec<int> joined{};
    bool good = true;
    for (int w : wanted) {
      if (out.group_of[w] >= 0) continue;
      good = fits(w, at) == fusion_answer::fused;
      if (!good) break;
      join(w, at);
      joined.push_back(w);
    }
    good = good && fits(id, at) == fusion_answer::fused;
    if (good) {
      join(id, at);
      for (int w : joined) waiting_[w] = 0;
      return true;
    }
    for (int i = joined.size() - 1; i >= 0; --i) leave(joined[i], at);
    return false;
  }

  constexpr void place(int id) {
    op_kind const kind = g_[id].op->kind;
    if (kind == op_kind::product || !is_space_op(id)) {
      settle_operands(id);
      open(id);
      return;
    }
    vec<int> wanted{};
    collect_waiting(id, wanted);
    settle_readers_of(id, wanted);
    if (enabled_) {
      int latest = -1;
      int sibling = -1;
      for (int k = 0; k < inputs_of(id); ++k) {
        int const operand = g_.input(id, k);
        latest = producer(id, operand) > latest ? producer(id, operand) : latest;
        if (last_reader_[base_of(operand)] > sibling && g_.info(operand).count() > 1) sibling = last_reader_[base_of(operand)];
      }
      for (int w : wanted)
        for (int k = 0; k < inputs_of(w); ++k)
          if (g_.info(g_.input(w, k)).count() > 1 && last_reader_[base_of(g_.input(w, k))] > sibling) sibling = last_reader_[base_of(g_.input(w, k))];
      if (is_number(id) && !out.groups.empty()) sibling = out.groups.size() - 1;
      for (int candidate : {latest, sibling})
        if (candidate >= 0 && candidate >= latest && join_all(id, wanted, candidate)) return;
    }
    // A group of its own. The waiting operands come along if they and this node fit together, else they are computed before.
    for (;;) {
      out.groups.push_back(group_for(id));
      int const at = out.groups.size() - 1;
      vec<int> joined{};
      vec<int> misfits{};
      for (int w : wanted) {
        if (!waiting_[w]) continue;
        if (fits(w, at) == fusion_answer::fused) {
          join(w, at);
          joined.push_back(w);
        } else {
          misfits.push_back(w);
        }
      }
      if (misfits.empty() && (joined.empty() || fits(id, at) == fusion_answer::fused)) {
        for (int w : joined) waiting_[w] = 0;
        join(id, at);
        return;
      }
      for (int i = joined.size() - 1; i >= 0; --i) leave(joined[i], at);
      out.groups.pop_back();
      for (int w : misfits.empty() ? joined : misfits) settle(w);
    }
  }

  // Takes back the last join of a group.
  constexpr void leave(int id, int at) {
    group& gr = out.groups[at];
    gr.nodes.pop_back();
    out.group_of[id] = -1;
    out.levels[id] = level::none;
    for (int k = 0; k < read_counts_.back(); ++k) gr.reads.pop_back();
    read_counts_.pop_back();
    for (int k = inputs_of(id) - 1; k >= 0; --k) {
      last_reader_[base_of(g_.input(id, k))] = readers_before_.back();
      readers_before_.pop_back();
    }
  }

  constexpr void open(int id) {
    out.groups.push_back(group_for(id));
    join(id, out.groups.size() - 1);
  }

  constexpr group group_for(int id) const {
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
        gr.cols = innermost(dims);
        // An index operand is numbered by its own last axis.
        for (int k = 0; k < n.inputs; ++k)
          if (g_[base_of(g_.input(n, k))].op->kind == op_kind::index) gr.cols = dims.last();
        break;
      default: gr.head = id;
    }
    gr.rows = gr.cols == 0 ? 0 : dims.count() / gr.cols;
    return gr;
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
    int reads = 0;
    for (int k = 0; k < inputs_of(id); ++k) {
      int const base = base_of(g_.input(id, k));
      readers_before_.push_back(last_reader_[base]);
      if (gr.fusible) last_reader_[base] = at;
      if (out.group_of[base] == at) continue;
      gr.reads.push_back(base);
      ++reads;
    }
    read_counts_.push_back(reads);
  }

  graph const& g_;
  bool enabled_;
  vec<int> last_reader_{};   // base -> the last fusible group that reads it
  vec<char> waiting_{};
  vec<char> is_output_{};
  vec<int> read_counts_{};     // of each join, to take back the last ones
  vec<int> readers_before_{};  // of each input of each join
};

}  // namespace detail

constexpr fusion fuse(graph const& g, bool enabled = true) { return detail::fuser(g, enabled).run(); }

// Why two neighbouring nodes are in different kernels, or that they are not.
constexpr fusion_answer explain(graph const& g, int producer, int consumer) {
  detail::fuser f(g, true);
  f.settle_all();
  return f.why(producer, consumer);
}

}  // namespace tx::passes
