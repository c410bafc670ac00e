// Lowering: a fused graph becomes a program: kernels, calls and the places of their operands.
//   {y = gelu(matmul(x, w) + b)}, {z = gelu(matmul(y, v) + c)}: one kernel, two calls with rows, columns and each operand's place
#pragma once

#include <tx/ops/iota.hpp>
#include <tx/plan/arena.hpp>
#include <tx/plan/range_checks.hpp>
#include <tx/plan/together.hpp>
#include <tx/plan/whole_rows.hpp>

namespace tx::exec {

namespace detail {

class lowerer {
 public:
  constexpr lowerer(graph const& g, passes::fusion const& f, target const& to, inspection* seen)
      : g_(g), f_(f), to_(to), where_(g, f, out_.varying), t_(g, f), kernels_(out_, to), value_of_(g.size(), -1), seen_(seen) {}

  constexpr lowered run() {
    find_stored();
    out_.checks = range_checks(g_);
    out_.sites = g_.sites;
    out_.settings = g_.settings;
    out_.bound_of = g_.bound_of;
    for (int i = 0; i < f_.groups.size(); ++i) lower_group(i);
    arena_planner arena(g_, f_, where_, t_, stored_, out_);
    arena.run(scratch_);
    if (seen_ != nullptr) tell(arena);
    emit_steps();
    calls_together(out_, g_, to_, [&](int kernel) { return kernels_.kept_by(kernel); }, [&](int call) { return scratch_[call].bytes; }).find();
    return static_cast<lowered&&>(out_);
  }

 private:
  constexpr void tell(arena_planner const& arena) const {
    arena.tell(*seen_);
    seen_->group_of_call = vec<int>(out_.calls.size(), -1);
    for (int i = 0; i < f_.groups.size(); ++i)
      for (int c = call_of_[i]; c >= 0 && c < end_of_calls(i); ++c) seen_->group_of_call[c] = i;
    int next = seen_->buffers.size();
    for (scratch_need const& s : scratch_) next -= s.bytes != 0;
    seen_->scratch_of_call.clear();
    for (scratch_need const& s : scratch_) seen_->scratch_of_call.push_back(s.bytes != 0 ? next++ : -1);
  }

  // Values that outlive their kernel.
  constexpr void find_stored() {
    stored_ = vec<char>(g_.size(), 0);
    for (int i = 0, end = g_.size(); i < end; ++i) {
      if (f_.group_of[i] < 0) continue;
      if (f_.where.places[i].kind != place_kind::own || f_.levels[i] == level::col || g_.is_result_of_op(i)) stored_[i] = 1;
      if (g_[i].op->kind == op_kind::region) continue;
      for (int k = 0; k < g_[i].inputs; ++k) {
        int const base = f_.where.of[g_.input(i, k)].base;
        if (f_.group_of[base] != f_.group_of[i]) stored_[base] = 1;
      }
    }
    for (output const& o : g_.outputs) stored_[o.value] = 1;
  }

  // Of one type.
  constexpr bool same_operand(operand_ref const& a, operand_ref const& b) const {
    if (a.base != b.base || a.root != b.root || !(a.random == b.random) || a.offset != b.offset || a.rank != b.rank ||
        a.col != b.col || a.varying != b.varying || std::bit_cast<std::uint64_t>(a.value) != std::bit_cast<std::uint64_t>(b.value))
      return false;
    for (int i = 0; i < a.rank; ++i)
      if (a.extent[i] != b.extent[i] || a.stride[i] != b.stride[i]) return false;
    for (int k = 0; k < max_loops; ++k)
      if (a.step[k] != b.step[k]) return false;
    for (int k = 0; k < a.varying; ++k)
      if (!(out_.varying[a.first_varying + k] == out_.varying[b.first_varying + k])) return false;
    return true;
  }

  // The kernel at hand.
  struct draft {
    vec<in_sig> ins{};
    vec<operand_ref> in_refs{};
    vec<let_sig> lets{};
    vec<out_sig> outs{};
    vec<operand_ref> out_refs{};

    constexpr void clear() {
      ins.clear();
      in_refs.clear();
      lets.clear();
      outs.clear();
      out_refs.clear();
    }
  };

  constexpr int input_value(draft& d, in_sig const& sig, operand_ref const& r) const {
    for (int i = 0; i < d.ins.size(); ++i)
      if (d.ins[i] == sig && same_operand(d.in_refs[i], r)) return i;
    d.ins.push_back(sig);
    d.in_refs.push_back(r);
    return d.ins.size() - 1;
  }

  // The input an operand from outside the group becomes.
  constexpr int outside(draft& d, passes::group const& gr, int operand, level reader) const {
    int const base = f_.where.of[operand].base;
    dtype const type = g_.info(operand).type;
    if (g_[base].op->kind == op_kind::constant) {
      operand_ref r{};
      r.type = type;
      r.base = -1;
      r.value = constant_value(g_[base]);
      return input_value(d, {type, access::constant}, r);
    }
    if (g_[base].op->kind == op_kind::index && f_.group_of[base] < 0) return index_input(d, g_[base]);
    bool const by_row = reader == level::row;
    operand_ref const r = where_.by_rows(operand, gr.cols, by_row);
    access const how = by_row || gr.cols == 1 || r.col == 0 ? access::row : r.col == 1 ? access::contiguous : access::strided;
    return input_value(d, {type, how}, r);
  }

  constexpr int index_input(draft& d, node const& n) const {
    if (n.op->random) return input_value(d, {n.info.type, access::random}, where_.random(n));
    operand_ref r = where_.position(n);
    // position: (row / stride) % extent, or the column, which has no rank, for the last axis
    int const axis = position_axis(n.at);
    bool const is_column = axis == n.info.dims.rank - 1 && n.info.dims.row_length() == n.info.dims.last();
    if (!is_column) where_.set_position(r, n.info.dims, axis);
    return input_value(d, {n.info.type, access::position}, r);
  }

  constexpr void lower_group(int index) {
    passes::group const& gr = f_.groups[index];
    call_of_.push_back(-1);
    op_kind const kind = gr.head >= 0 ? g_[gr.head].op->kind : op_kind::elementwise;
    if (kind == op_kind::region) return;
    if (kind == op_kind::gather_all) {
      if (g_[gr.head].op == &gather_all_info) zero_gaps(gr.head);
      return;
    }
    if (!gr.fusible) {
      lower_whole(gr.head);
      return;
    }
    lower_fused(gr);
  }

  constexpr void finish_call(call c, kernel_sig const& sig, int group_time) {
    if (!g_.sites.empty()) note_sites(c, f_.groups[call_of_.size() - 1]);
    c.kernel = kernels_.intern(sig);
    call_of_.back() = out_.calls.size();
    scratch_.push_back({kernels_.scratch_bytes(c), group_time});
    out_.calls.push_back(c);
  }

  constexpr void note_sites(call& c, passes::group const& gr) {
    c.first_site = out_.site_of.size();
    for (int id : gr.nodes) out_.site_of.push_back(g_[id].site);
  }

  constexpr void lower_fused(passes::group const& gr) {
    draft& d = draft_;
    d.clear();
    bool const has_product = gr.head >= 0;
    if (has_product) {
      d.ins.push_back({g_.info(gr.head).type, access::product});
      d.in_refs.push_back(operand_ref{});
      value_of_[gr.head] = 0;
    }
    // Inputs first, so that lets can be numbered behind them.
    vec<int> operand_value{};
    auto reader_level = [&](int id) {
      op_kind const k = g_[id].op->kind;
      if (k == op_kind::row_reduce) return level::full;
      if (k == op_kind::col_reduce) return count_in(g_.info(g_.input(id, 0)).dims) == proportional(gr.rows * gr.cols, gr.of_count) ? level::full : level::row;
      return f_.levels[id];
    };
    for (int id : gr.nodes) {
      if (id == gr.head) continue;
      if (g_[id].op->kind == op_kind::index) {
        operand_value.push_back(index_input(d, g_[id]));
        continue;
      }
      for (int k = 0; k < g_[id].inputs; ++k) {
        int const operand = g_.input(id, k);
        bool const inside = f_.group_of[f_.where.of[operand].base] == f_.group_of[id];
        operand_value.push_back(inside ? -1 : outside(d, gr, operand, reader_level(id)));
      }
    }
    int next_operand = 0;
    for (int id : gr.nodes) {
      if (id == gr.head) continue;
      node const& n = g_[id];
      let_sig l{};
      bool const copies = n.op->kind == op_kind::view || n.op->kind == op_kind::index;
      l.op = copies ? &copy_info : n.op;
      l.type = n.info.type;
      l.shape = n.op->kind == op_kind::row_reduce ? form::row_reduce : n.op->kind == op_kind::col_reduce ? form::col_reduce : form::map;
      l.operands = n.op->kind == op_kind::index ? 1 : n.inputs;
      for (int k = 0; k < l.operands; ++k) {
        int const v = operand_value[next_operand++];
        l.operand[k] = v >= 0 ? v : value_of_[f_.where.of[g_.input(id, k)].base];
      }
      value_of_[id] = d.ins.size() + d.lets.size();
      d.lets.push_back(l);
    }
    for (int id : gr.nodes) {
      if (!stored_[id]) continue;
      bool const column = f_.levels[id] == level::col;
      bool const per_row = column ? count_in(g_.info(id).dims) != proportional(gr.cols, gr.of_cols) : f_.levels[id] == level::row;
      d.outs.push_back({value_of_[id], g_.info(id).type, column ? form::col_reduce : form::map, per_row});
      operand_ref const r = column ? where_.start_of(id) : where_.by_rows(id, gr.cols, per_row);
      if (!column && !per_row && gr.cols > 1 && gr.rows > 0 && r.col != 1) throw invalid("lower: a kernel would write a row that does not lie in one piece");
      d.out_refs.push_back(r);
    }
    kernel_sig sig{};
    sig.kind = has_product ? kernel_kind::gemm : kernel_kind::fused;
    call c{};
    if (to_.has_whole_columns(gr.cols) && !gr.of_cols && rows_begin_whole(d, out_.varying, g_.bound_of, to_.whole_bytes)) sig.columns = known_columns(d, gr.cols, to_.known_columns);
    c.rows = gr.rows;
    c.cols = gr.cols;
    c.first = out_.operands.size();
    int const any = gr.nodes[0];
    if (has_product) {
      sig.type = g_.info(g_.input(gr.head, 0)).type;
      out_.operands.push_back(where_.matrices(g_.input(gr.head, 0)));
      out_.operands.push_back(where_.matrices(g_.input(gr.head, 1)));
      shape const& left = g_.info(g_.input(gr.head, 0)).dims;
      c.depth = left.last();
      for (int i = 0; i + 2 < left.rank; ++i) {
        c.batch *= left.dim[i];
        c.of_batch = c.of_batch + left.factors_at(i);
      }
      c.of_depth = left.factors_at(left.rank - 1);
    }
    if (gr.band >= 0) {
      if (has_product && c.batch != f_.bands[gr.band].matrices) throw invalid("lower: a product has another batch than the bands it runs in");
      c.batch = f_.bands[gr.band].matrices;
      c.of_batch = f_.bands[gr.band].of_matrices;
    }
    for (int i = has_product ? 1 : 0; i < d.in_refs.size(); ++i) out_.operands.push_back(d.in_refs[i]);
    for (operand_ref const& r : d.out_refs) out_.operands.push_back(r);
    c.operands = out_.operands.size() - c.first;
    c.of_rows = gr.of_rows;
    c.of_cols = gr.of_cols;
    c.when = g_[has_product ? gr.head : gr.nodes.back()].when;
    if (c.when != step_phase::update && g_[gr.nodes.back()].when == step_phase::update)
      for (c.first_update = 0; g_[gr.nodes[c.first_update]].when != step_phase::update;) ++c.first_update;
    sig.first_in = out_.ins.size();
    sig.ins = d.ins.size();
    sig.first_let = out_.lets.size();
    sig.lets = d.lets.size();
    sig.first_out = out_.outs.size();
    sig.outs = d.outs.size();
    for (in_sig const& s : d.ins) out_.ins.push_back(s);
    for (let_sig const& s : d.lets) out_.lets.push_back(s);
    for (out_sig const& s : d.outs) out_.outs.push_back(s);
    finish_call(c, sig, t_.time[f_.group_of[any]]);
  }

  constexpr void lower_whole(int id) {
    node const& n = g_[id];
    kernel_sig sig{};
    sig.kind = n.op->kind == op_kind::collective ? kernel_kind::collective : kernel_kind::whole;
    sig.op = n.op;
    sig.first_in = out_.ins.size();
    sig.first_let = out_.lets.size();
    sig.first_out = out_.outs.size();
    sig.ins = n.inputs;
    sig.outs = g_.has_results(id) ? n.op->results : 1;
    call c{};
    c.first = out_.operands.size();
    c.operands = sig.ins + sig.outs;
    c.at = n.at;
    c.when = n.when;
    for (int k = 0; k < n.inputs; ++k) {
      int const operand = g_.input(n, k);
      bool const drawn = f_.group_of[operand] < 0 && g_[operand].op->random;
      out_.ins.push_back({g_.info(operand).type, drawn ? access::random : access::contiguous});
      out_.operands.push_back(drawn ? where_.drawn(operand) : sees_next(g_, n, k) ? where_.whole_of_next(operand) : where_.whole(operand));
    }
    for (int k = 0; k < sig.outs; ++k) {
      int const result = g_.has_results(id) ? id + 1 + k : id;
      out_.outs.push_back({0, g_.info(result).type, form::map, false});
      out_.operands.push_back(where_.whole(result));
    }
    finish_call(c, sig, t_.time[f_.group_of[id]]);
  }

  // What lies between the operands of a flat block.
  constexpr void zero_gaps(int id) {
    node const& n = g_[id];
    vec<int> slots{};
    for (int k = 0; k < n.inputs; ++k) slots.push_back(k);
    auto first_of = [&](int k) { return g_.numbers[first_number(n.at) + k]; };
    stable_sort(slots, [&](int a, int b) { return first_of(a) < first_of(b); });
    std::int64_t at = 0;
    bool first = true;
    auto gap = [&](std::int64_t to) {
      if (to <= at) return;
      call c{};
      c.first = out_.operands.size();
      c.operands = 1;
      c.cols = (to - at) * size_of(n.info.type);
      c.when = n.when;
      out_.operands.push_back(where_.start_of(id, at));
      kernel_sig sig{};
      sig.kind = kernel_kind::zero;
      sig.first_in = out_.ins.size();
      sig.first_let = out_.lets.size();
      sig.first_out = out_.outs.size();
      int const kept = call_of_.back();
      finish_call(c, sig, t_.time[f_.group_of[id]]);
      if (!first) call_of_.back() = kept;
      first = false;
    };
    for (int k : slots) {
      gap(first_of(k));
      at = first_of(k) + g_.info(g_.input(n, k)).count();
    }
    gap(n.info.count());
    gap_end_.push_back(out_.calls.size());
    gap_group_.push_back(f_.group_of[id]);
  }

  constexpr void emit_steps() {
    int const regions = g_.regions.size();
    out_.loops.resize(regions + f_.bands.size());
    for (int r = regions - 1; r >= 0; --r) {
      for (int b = 0; b < f_.bands.size(); ++b) emit_band(b, r);
      loop& l = out_.loops[r];
      l.first = out_.instructions.size();
      l.iterations = g_.regions[r].iterations;
      l.around = r == 0 ? 0 : g_.loops_around(r) - 1;
      l.reversed = g_.regions[r].reversed;
      l.parts = g_.regions[r].parts;
      l.turn = g_.regions[r].turn;
      l.of_ranks = g_.regions[r].of_ranks;
      int band = -1;
      for (int i : t_.order[r]) {
        int const head = f_.groups[i].head;
        if (f_.groups[i].band >= 0) {
          if (f_.groups[i].band != band) out_.instructions.push_back({instruction_kind::loop, regions + f_.groups[i].band});
        } else if (head >= 0 && g_[head].op->kind == op_kind::region) {
          out_.instructions.push_back({instruction_kind::loop, run_region(g_[head].at)});
        } else {
          emit_calls(i);
        }
        band = f_.groups[i].band;
      }
      l.count = out_.instructions.size() - l.first;
    }
  }
  constexpr int end_of_calls(int group_at) const {
    for (int k = 0; k < gap_group_.size(); ++k)
      if (gap_group_[k] == group_at) return gap_end_[k];
    return call_of_[group_at] + 1;
  }
  constexpr void emit_calls(int group_at) {
    int const end = end_of_calls(group_at);
    for (int c = call_of_[group_at]; c >= 0 && c < end; ++c) out_.instructions.push_back({instruction_kind::call, c});
  }
  constexpr void emit_band(int b, int region_id) {
    loop& l = out_.loops[g_.regions.size() + b];
    for (int i : t_.order[region_id]) {
      if (f_.groups[i].band != b) continue;
      if (l.count == 0) l.first = out_.instructions.size();
      emit_calls(i);
      l.count = out_.instructions.size() - l.first;
    }
    passes::band_loop const& band = f_.bands[b];
    l.band = band.each;
    l.matrices = band.matrices;
    l.iterations = static_cast<int>((band.matrices + band.each - 1) / band.each);
    l.of_matrices = band.of_matrices;
    l.of_matrix = band.of_matrix;
  }

  graph const& g_;
  passes::fusion const& f_;
  target const& to_;
  lowered out_{};
  operand_refs where_;
  timeline t_;
  kernel_table kernels_;
  draft draft_{};
  vec<int> value_of_;   // node -> its number in the kernel at hand; groups share no node
  vec<char> stored_{};
  vec<int> call_of_{};  // group -> its first call
  vec<int> gap_group_{}, gap_end_{};
  vec<scratch_need> scratch_{};
  inspection* seen_;
};

}  // namespace detail

// seen: is told of buffers and calls, if there is one.
constexpr lowered lower(graph const& g, passes::fusion const& f, target const& to, inspection* seen = nullptr) { return detail::lowerer(g, f, to, seen).run(); }

}  // namespace tx::exec
