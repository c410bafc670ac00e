// Fusion: nodes become groups, each one kernel. A group works on rows x cols elements and reads each row once: elementwise
// values, reductions of rows, values per row, sums over columns; a product may stand at its head, the rest is its epilogue.
//
//   graph    y = matmul(x, w), z = gelu(y + b), m = row_sum(z), n = z - m / 768, t = matmul(n, v)
//   groups   {matmul, +, gelu, row_sum, /, -}, {matmul}: n is stored, y, z and m never are
//
// Which kernel a node joins is decided here; whether it may, by fits() of fusion_rules.hpp within the limits of a target (groups.hpp).
#pragma once

#include <tx/passes/assign_storage.hpp>
#include <tx/passes/fusion_rules.hpp>

namespace tx::passes {

namespace detail {

class fuser : public fusion_rules {
 public:
  constexpr fuser(graph const& g, storage where, kernel_limits const& limits, bool enabled)
      : fusion_rules(g, static_cast<storage&&>(where), limits), enabled_(enabled) {
    last_reader_ = vec<int>(g.size(), -1);
    waiting_ = vec<char>(g.size(), 0);
    is_output_ = vec<char>(g.size(), 0);
    find_stored_indices();
    for (output const& o : g.outputs) is_output_[o.value] = 1;
  }

  constexpr fusion run() {
    settle_all();
    return static_cast<fusion&&>(out);
  }

  constexpr void settle_all() {
    // Numbers first: whatever needs them can then join any later group.
    for (int i = 0, end = g_.size(); i < end; ++i)
      if (is_number(i)) place(i);
    for (int i = 0, end = g_.size(); i < end; ++i)
      if (out.group_of[i] < 0 && is_rounded_ahead(i)) g_[i].op == &join_info ? alone(i) : place(i);
    for (int i = 0, end = g_.size(); i < end; ++i)
      if (out.group_of[i] < 0) visit(i);
  }

 private:
  // One element computed from run-time scalars and constants alone.
  constexpr bool is_number(int id) const {
    node const& n = g_[id];
    if (n.op->kind != op_kind::elementwise || n.info.count() != 1 || n.region != 0 || out.where.places[id].kind != place_kind::own || n.op == &copy_info)
      return false;
    for (int k = 0; k < n.inputs; ++k) {
      int const base = base_of(g_.input(n, k));
      if (g_[base].op->kind != op_kind::constant && g_[base].op != &scalar_info && !(g_[base].region == 0 && out.group_of[base] >= 0)) return false;
    }
    return true;
  }

  constexpr void visit(int id) {
    op_kind const kind = g_[id].op->kind;
    if (kind == op_kind::region || kind == op_kind::gather_all) {  // what they need is placed, or has been read in the body
      alone(id);
    } else if (kind == op_kind::index) {
      if (stored_index_[id]) open(id);
    } else if (out.where.moved[id] || is_computed(kind)) {
      if (enabled_ && can_wait(id)) {
        waiting_[id] = 1;
        waiting_list_.push_back(id);
        return;
      }
      place(id);
    }
  }

  // Elementwise nodes that depend on no kernel of this region, or on products alone that nothing joins, wait for the first reader and join its kernel.
  constexpr bool can_wait(int id) const {
    if (g_[id].op->kind != op_kind::elementwise || out.where.places[id].kind != place_kind::own || is_output_[id]) return false;
    for (int k = 0, inputs = inputs_of(id); k < inputs; ++k) {
      int const operand = g_.input(id, k);
      int const group_id = producer(id, operand);
      if (is_rounded_ahead(base_of(operand))) continue;
      if (group_id >= 0 && out.groups[group_id].ends && fits(id, group_id) == fusion_answer::fused) return false;
      if (group_id >= 0 && !out.groups[group_id].ends && !(g_.info(base_of(operand)).count() == 1 && group_id == 0)) return false;
    }
    return true;
  }

  // Parameters that a target rounds ahead, and joins of such, are there before what reads them: a library adds a row of them to a product.
  constexpr bool is_rounded_ahead(int id) const {
    bool joined = g_[id].op == &join_info;
    for (int k = 0; joined && k < g_[id].inputs; ++k) joined = is_rounded_ahead(g_.input(id, k));
    return joined || is_rounded_parameter(id);
  }
  constexpr bool is_rounded_parameter(int id) const {
    return limits_.ends_product != nullptr && g_[id].op == &cast_info && is_half(g_.info(id).type) && g_[base_of(g_.input(id, 0))].op == &parameter_info;
  }

  // Waiting operands, deepest first.
  constexpr void collect_waiting(int id, vec<int>& list) const {
    for (int k = 0, inputs = inputs_of(id); k < inputs; ++k) {
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
    for (int k = 0, inputs = inputs_of(id); k < inputs; ++k) settle(base_of(g_.input(id, k)));
  }

  // An index op that some reader cannot compute in place gets storage.
  constexpr void find_stored_indices() {
    stored_index_ = vec<char>(g_.size(), 0);
    for (int i = 0, end = g_.size(); i < end; ++i) {
      op_kind const kind = g_[i].op->kind;
      if (kind == op_kind::view && !out.where.moved[i]) continue;
      for (int k = 0, inputs = inputs_of(i); k < inputs; ++k) {
        int const operand = g_.input(i, k);
        int const id = base_of(operand);
        if (g_[id].op->kind != op_kind::index) continue;
        if (g_[i].op->draws && operand == id && g_[id].op->random) continue;
        bool const inline_ok = (kind == op_kind::elementwise || kind == op_kind::row_reduce) && shows_in_order(operand) && row_of(g_.info(operand).dims) == row_of(g_.info(id).dims) && g_.info(id).dims.row_length() > 1;
        if (!inline_ok) stored_index_[id] = 1;
      }
    }
  }

  // Before `id` overwrites a value, every waiting node that reads it is computed, but for those that `id` needs. So are waiting nodes around a
  // body that overwrites what they read.
  constexpr void settle_readers_of(int id, vec<int> const& wanted) {
    int const old = overwritten(id);
    if (old < 0) return;
    vec<int> still{};
    for (int w : waiting_list_)
      if (waiting_[w]) still.push_back(w);
    waiting_list_ = still;
    for (int w : still) {
      bool reads = false;
      for (int k = 0, inputs = inputs_of(w); k < inputs; ++k) reads = reads || same_storage(base_of(g_.input(w, k)), old);
      for (int other : wanted) reads = reads && other != w;
      if (reads) settle(w);
    }
  }

  // `id` and the waiting values it needs, in one group if all fit there.
  constexpr bool join_all(int id, vec<int> const& wanted, int at) {
    vec<int> joined{};
    bool good = true;
    for (int w : wanted) {
      if (!waiting_[w]) continue;
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

  // The later of a group and the last one that reads the same operand, or another result of the op that made it; a number is no reason to be one kernel.
  constexpr int later_sibling(int sibling, int operand) const {
    int const base = base_of(operand);
    return g_.info(base).count() > 1 && last_reader_[maker_of(base)] > sibling ? last_reader_[maker_of(base)] : sibling;
  }
  constexpr int maker_of(int base) const { return g_.is_result_of_op(base) ? g_.input(base, 0) : base; }

  constexpr void place(int id) {
    if (!is_space_op(id)) {
      settle_operands(id);
      settle_readers_of(id, {});
      int const results = g_.has_results(id) ? g_[id].op->results : 0;
      for (int k = 0; k < results; ++k) settle_readers_of(id + 1 + k, {});
      open(id);
      for (int k = 0; k < results; ++k) join(id + 1 + k, out.group_of[id]);
      return;
    }
    vec<int> wanted{};
    collect_waiting(id, wanted);
    settle_readers_of(id, wanted);
    if (enabled_ && joins_earlier(id, wanted)) return;
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

  // The group of the operand that is computed last, or one after it that reads an operand too.
  constexpr bool joins_earlier(int id, vec<int> const& wanted) {
    int latest = -1;
    int sibling = -1;
    for (int k = 0, inputs = inputs_of(id); k < inputs; ++k) {
      int const operand = g_.input(id, k);
      latest = producer(id, operand) > latest ? producer(id, operand) : latest;
      sibling = later_sibling(sibling, operand);
    }
    for (int w : wanted)
      for (int k = 0, inputs = inputs_of(w); k < inputs; ++k) {
        int const operand = g_.input(w, k);
        latest = producer(w, operand) > latest ? producer(w, operand) : latest;
        sibling = later_sibling(sibling, operand);
      }
    if (is_number(id)) sibling = out.groups.size() - 1;
    return (latest >= 0 && join_all(id, wanted, latest)) || (sibling >= 0 && sibling >= latest && join_all(id, wanted, sibling));
  }

  // Takes back the last join of a group.
  constexpr void leave(int id, int at) {
    group& gr = out.groups[at];
    gr.nodes.pop_back();  // it waited, so it reduces nothing: the kernel's last sweep stays
    out.group_of[id] = -1;
    for (int k = 0; k < read_counts_.back(); ++k) gr.reads.pop_back();
    read_counts_.pop_back();
    for (int k = inputs_of(id) - 1; k >= 0; --k) {
      last_reader_[maker_of(base_of(g_.input(id, k)))] = readers_before_.back();
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
    bounded cols = 1;
    switch (n.op->kind) {
      case op_kind::product:
        gr.head = id;
        gr.fusible = true;
        cols = dims.at(-1);
        gr.ends = limits_.ends_product != nullptr && limits_.ends_product(shape_of_product(id));
        break;
      case op_kind::row_reduce:
      case op_kind::col_reduce:
        dims = g_.info(g_.input(n, 0)).dims;
        gr.fusible = true;
        cols = dims.at(-1);
        break;
      case op_kind::index:
        gr.fusible = true;
        cols = row_of(dims);
        break;
      case op_kind::elementwise:
      case op_kind::view:
        gr.fusible = true;
        cols = innermost(dims);
        break;
      default: gr.head = id;
    }
    gr.cols = cols.max;
    gr.rows = gr.cols == 0 ? 0 : dims.count() / gr.cols;
    gr.of_count = dims.count_factors();
    gr.of_cols = cols.of;
    gr.of_rows = gr.of_count - gr.of_cols;
    return gr;
  }

  constexpr product_shape shape_of_product(int id) const {
    shape const &left = g_.info(g_.input(id, 0)).dims, &all = g_[id].info.dims;
    std::int64_t matrices = 1;
    for (int a = 0; a < all.rank - 2; ++a) matrices *= all.dim[a];
    return {g_.info(g_.input(id, 0)).type, matrices, all.rank < 2 ? 1 : all.dim[all.rank - 2], all.dim[all.rank - 1], left.dim[left.rank - 1]};
  }

  constexpr void alone(int id) {
    group gr{};
    gr.region = g_[id].region;
    gr.head = id;
    out.groups.push_back(gr);
    join(id, out.groups.size() - 1);
    if (g_[id].op->kind == op_kind::region) read_numbers_inside(run_region(g_[id].at));
  }
  // A body reads numbers of the program without being handed them. (Those of a body inside it are among what that one's node reads.)
  constexpr void read_numbers_inside(int region_id) {
    vec<int>& reads = out.groups.back().reads;
    for (group const& inner : out.groups)
      if (inner.region == region_id)
        for (int base : inner.reads)
          if (g_[base].region != region_id) reads.push_back(base);
  }

  constexpr void join(int id, int at) {
    group& gr = out.groups[at];
    op_kind const kind = g_[id].op->kind;
    gr.nodes.push_back(id);
    out.group_of[id] = at;
    gr.overwrites = gr.overwrites || overwritten(id) >= 0;
    sweep_[id] = static_cast<char>(sweep_in(id, at));
    if (sweep_[id] > gr.last_sweep) gr.last_sweep = sweep_[id];
    if (kind == op_kind::row_reduce) {
      out.levels[id] = level::row;
      gr.reduces_rows = true;
    } else if (kind == op_kind::col_reduce) {
      out.levels[id] = level::col;
    } else if (gr.fusible) {
      out.levels[id] = id == gr.head || kind == op_kind::index ? level::full : level_in(gr, g_.info(id));
    }
    int reads = 0;
    for (int k = 0, inputs = inputs_of(id); k < inputs; ++k) {
      int const base = base_of(g_.input(id, k));
      int& last = last_reader_[maker_of(base)];
      readers_before_.push_back(last);
      if (gr.fusible) last = at;
      if (out.group_of[base] == at) continue;
      gr.reads.push_back(base);
      ++reads;
    }
    read_counts_.push_back(reads);
  }

  bool enabled_;
  vec<int> last_reader_{};   // base, or the op that makes it with others -> the last fusible group that reads it
  vec<char> waiting_{};
  vec<int> waiting_list_{};       // those, in order, and some that wait no longer
  vec<char> is_output_{};
  vec<char> stored_index_{};
  vec<int> read_counts_{};     // of each join, to take back the last ones
  vec<int> readers_before_{};  // of each input of each join
};

}  // namespace detail

// where: the storage that was assigned to that graph.
constexpr fusion fuse(graph const& g, storage where, kernel_limits const& limits, bool enabled = true) {
  return detail::fuser(g, static_cast<storage&&>(where), limits, enabled).run();
}

// Why two neighbouring nodes are in different kernels, or that they are not.
constexpr fusion_answer explain(graph const& g, int producer, int consumer) {
  stored_graph s = assign_storage(g);
  detail::fuser f(s.nodes, static_cast<storage&&>(s.where), {}, true);
  f.settle_all();
  return f.why(s.node_of[producer], s.node_of[consumer]);
}

}  // namespace tx::passes
