// What belongs together: may a node become part of a kernel? A kernel works on rows x cols elements; its nodes have one value per
// element or per row, or sum over rows, and read of each other their own row only.
//
//   y = exp(x), z = y + y                 may: z reads the element that y has there
//   y = exp(x), z = y + flip<0>(y)        may not: a row of z reads another row of y
#pragma once

#include <tx/ops/add.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/copy.hpp>
#include <tx/passes/groups.hpp>
#include <tx/passes/scaled_product.hpp>

namespace tx::passes::detail {

class fusion_rules {
 public:
  constexpr fusion_rules(graph const& g, storage where, kernel_limits const& limits) : g_(g), limits_(limits) {
    out.where = static_cast<storage&&>(where);
    out.group_of = vec<int>(g.size(), -1);
    out.levels = vec<level>(g.size(), level::none);
    sweep_ = vec<char>(g.size(), 0);
    out.handed_on = vec<char>(g.size(), 0);
  }

  // Of a finished fusion: why `consumer` is not in the kernel of `producer`.
  constexpr fusion_answer why(int producer_node, int consumer) {
    if (out.group_of[consumer] < 0 && g_[consumer].op->kind == op_kind::view) return fusion_answer::view;
    while (g_[producer_node].op->kind == op_kind::view && out.group_of[producer_node] < 0)
      producer_node = g_.input(producer_node, 0);
    op_kind const made_by = g_[producer_node].op->kind;
    bool const there = made_by == op_kind::leaf || made_by == op_kind::constant || made_by == op_kind::index;
    if (there && out.group_of[producer_node] < 0) return fusion_answer::not_computed;
    if (made_by == op_kind::result && !g_.is_result_of_op(producer_node)) return fusion_answer::other_region;
    if (out.group_of[producer_node] < 0 || out.group_of[consumer] < 0) return fusion_answer::not_fusible;
    if (out.group_of[producer_node] == out.group_of[consumer]) return fusion_answer::fused;
    if (g_[producer_node].region != g_[consumer].region) return fusion_answer::other_region;
    if (!is_space_op(consumer)) return fusion_answer::not_fusible;
    fusion_answer const answer = fits(consumer, out.group_of[producer_node]);
    return answer == fusion_answer::fused ? fusion_answer::order : answer;  // it would fit alone, but not with what it came with
  }

  fusion out{};

 protected:
  constexpr int inputs_of(int id) const { return g_[id].inputs; }
  constexpr int base_of(int operand) const { return out.where.of[operand].base; }

  // The group of this region that an operand comes from, -1 for what is there from the start.
  constexpr int producer(int id, int operand) const {
    node const* n = &g_[operand];
    while (n->op->kind == op_kind::view && !out.where.moved[operand]) n = &g_[operand = g_.input(*n, 0)];
    if (n->op == &result_info) n = &g_[operand = g_.input(*n, 0)];
    return n->region == g_[id].region ? out.group_of[operand] : -1;
  }

  constexpr bool is_space_op(int id) const {
    op_kind const k = g_[id].op->kind;
    return k == op_kind::elementwise || k == op_kind::row_reduce || k == op_kind::col_reduce || out.where.moved[id];
  }

  // What is a row of an index op: the last axis, but of a bounded vector one element.
  static constexpr bounded row_of(shape const& s) { return s.rank == 0 || (s.rank == 1 && s.bounds != 0) ? bounded(1) : s.at(-1); }
  static constexpr bounded cols_of(group const& gr) { return {static_cast<int>(gr.cols), gr.of_cols}; }

  constexpr level level_in(group const& gr, value_info const& info) const {
    std::int64_t const count = info.count();
    if (info.dims.bounds == 0 && gr.of_count.bits == 0) {
      if (count == gr.rows * gr.cols && (gr.cols == 1 || innermost(info.dims).max == gr.cols)) return level::full;
      return count == gr.rows ? level::row : level::none;
    }
    factors const of = info.dims.count_factors();  // as many as the bound are not as many as there are
    if (count == gr.rows * gr.cols && of == gr.of_count && (gr.cols == 1 || innermost(info.dims) == cols_of(gr))) return level::full;
    if (count == gr.rows && of == gr.of_rows) return level::row;
    return level::none;
  }

  // May node `id` become part of group `at`?
  constexpr fusion_answer fits(int id, int at) const {
    group const& gr = out.groups[at];
    if (gr.region != g_[id].region) return fusion_answer::other_region;
    if (!gr.fusible) return fusion_answer::not_fusible;
    if (gr.head >= 0 && !limits_.epilogues) return fusion_answer::not_fusible;
    if (gr.ends && !ends_with(id, gr)) return fusion_answer::not_fusible;
    if (gr.nodes.size() >= limits_.nodes || gr.nodes.size() + gr.reads.size() + inputs_of(id) >= limits_.values) return fusion_answer::full;
    op_kind const kind = g_[id].op->kind;
    level const mine = kind == op_kind::row_reduce || kind == op_kind::col_reduce ? operand_level(gr, g_.input(id, 0), kind) : level_in(gr, g_.info(id));
    if (mine == level::none) return fusion_answer::other_space;
    for (int k = 0, inputs = inputs_of(id); k < inputs; ++k) {
      int const operand = g_.input(id, k);
      int const base = base_of(operand);
      if (out.group_of[base] == at) {
        if (!reads_own_row(gr, operand, base, mine)) return fusion_answer::other_access;
      } else if (producer(id, operand) > at) {
        return fusion_answer::order;
      } else if (g_[base].op->kind == op_kind::index && out.group_of[base] < 0) {
        if (mine != level::full || !(row_of(g_.info(base).dims) == cols_of(gr))) return fusion_answer::other_access;
      }
    }
    if (gr.overwrites && disturbs(gr, id)) return fusion_answer::hazard;
    return overwrites_in_time(id, at) ? fusion_answer::fused : fusion_answer::hazard;
  }

  // What a library does as it stores a product's results: it rounds them to the halves of the sides, or adds them to another value of their type and shape, or
  // adds a row of halves to each and rounds the sums. Each value in between has no other reader.
  //
  //   {p, cast<bf16>(p)}, {p, p + x}, which may be stored over a carry, or {p, r = cast<f32>(broadcast(bias)), y = p + r, cast<bf16>(y)}
  //   of E4M3 {p, m = p * rows' scales, s = m * columns' scales}, and behind that {cast<bf16>(s)} or {r = cast<f32>(broadcast(bias)), y = s + r, cast<bf16>(y)}
  constexpr bool ends_with(int id, group const& gr) const {
    int const already = gr.nodes.size();
    if (g_.info(g_.input(gr.head, 0)).type == dtype::e4m3) {
      if (already == 1) return scales_rows(g_, id, gr.head) && is_only_reader(id, gr.head);
      if (already == 2) return scales_columns(g_, id, gr.nodes[1]) && is_only_reader(id, gr.nodes[1]);
      int const scaled = gr.nodes[2];
      if (already == 3) return is_widened_row(id, gr) || adds_widened_row(id, gr, scaled) || (rounds(id, gr.head, scaled) && is_only_reader(id, scaled));
      if (already == 4) return adds_widened_row(id, gr, scaled);
      return already == 5 && g_[gr.nodes[4]].op == &add_info && rounds(id, gr.head, gr.nodes[4]);
    }
    if (already == 1) {
      if (is_widened_row(id, gr) || adds_widened_row(id, gr, gr.head)) return true;
      return is_only_reader(id, gr.head) && (rounds(id, gr.head) || (g_[id].op == &add_info && adds_elements(id, gr.head, g_.input(id, 0), g_.input(id, 1))));
    }
    if (already == 2) return adds_widened_row(id, gr, gr.head) || stores_sum(id, gr.nodes[1]);
    return already == 3 && g_[gr.nodes[2]].op == &add_info && rounds(id, gr.head, gr.nodes[2]);
  }
  // Is `value` rounded by a node to the halves that the product `head` is of?
  constexpr bool rounds(int id, int head) const { return rounds(id, head, head); }
  constexpr bool rounds(int id, int head, int value) const {
    return g_[id].op == &cast_info && base_of(g_.input(id, 0)) == value && is_half(g_.info(id).type) && g_.info(id).type == half_of(g_.info(g_.input(head, 0)).type);
  }
  // cast<f32>(broadcast(b)), b of as many halves as a row of the product has elements.
  constexpr bool is_widened_row(int id, group const& gr) const {
    if (g_[id].op != &cast_info || g_.info(id).type != g_.info(gr.head).type || g_.info(g_.input(id, 0)).type != half_of(g_.info(g_.input(gr.head, 0)).type)) return false;
    int row = g_.input(id, 0);
    while (g_[row].op->kind == op_kind::view && !out.where.moved[row] && g_.info(row).count() != gr.cols) row = g_.input(row, 0);
    return is_half(g_.info(row).type) && gr.cols > 1 && g_.info(row).dims.bounds == 0 && g_.info(row).count() == gr.cols && g_.info(row).dims.last() == gr.cols &&
           g_[row].op->kind != op_kind::index && g_[row].op->kind != op_kind::constant;
  }
  // The sum of the product, scaled perhaps, and such a row, which is rounded and read by nobody else.
  constexpr bool adds_widened_row(int id, group const& gr, int value) const {
    if (g_[id].op != &add_info) return false;
    int const a = base_of(g_.input(id, 0)), b = base_of(g_.input(id, 1)), row = a == value ? b : a;
    if ((a == value) == (b == value) || !is_widened_row(row, gr) || !is_only_reader(id, value)) return false;
    int rounding = -1;
    for (int i = 0; i < g_.size(); ++i)
      if (g_[i].op == &cast_info && rounds(i, gr.head, id)) rounding = i;
    return rounding >= 0 && is_only_reader(rounding, id);
  }
  constexpr bool stores_sum(int id, int sum) const { return g_[id].op == &copy_info && g_[sum].op == &add_info && base_of(g_.input(id, 0)) == sum && is_only_reader(id, sum); }
  constexpr bool is_only_reader(int id, int value) const {
    int readers = 0;
    for (int i = 0; i < g_.size(); ++i) {
      if (g_[i].op->kind == op_kind::view && !out.where.moved[i]) continue;
      for (int k = 0; k < inputs_of(i); ++k) {
        if (base_of(g_.input(i, k)) != value) continue;
        if (i != id) return false;
        ++readers;
      }
    }
    for (output const& o : g_.outputs) readers += base_of(o.value) == value;
    for (region const& r : g_.regions)
      for (int other : r.results) readers += base_of(other) == value;
    return readers == 1;
  }
  // All of both sides lie in their order, and one is the head.
  constexpr bool adds_elements(int id, int head, int a, int b) const {
    return (base_of(a) == head) != (base_of(b) == head) && g_.info(a).type == g_.info(b).type && count_in(g_.info(a).dims) == count_in(g_.info(id).dims) &&
           count_in(g_.info(b).dims) == count_in(g_.info(id).dims) && shows_in_order(a) && shows_in_order(b) && g_[base_of(a)].op->kind != op_kind::index &&
           g_[base_of(b)].op->kind != op_kind::index && g_[base_of(a)].op->kind != op_kind::constant && g_[base_of(b)].op->kind != op_kind::constant;
  }

  // A kernel that overwrites what it reads goes over its columns once: no reduction of rows, no further reader, joins it.
  constexpr bool disturbs(group const& gr, int id) const {
    for (int n : gr.nodes) {
      int const old = overwritten(n);
      if (old < 0) continue;
      if (g_[id].op->kind == op_kind::row_reduce)
        for (int base : gr.reads)
          if (same_storage(base, old)) return true;
      for (int k = 0, inputs = inputs_of(id); k < inputs; ++k)
        if (same_storage(base_of(g_.input(id, k)), old)) return true;
    }
    return false;
  }
  constexpr int overwritten(int id) const { return passes::overwritten(g_, out.where, id); }
  constexpr bool same_storage(int a, int b) const { return out.where.shared[a] == out.where.shared[b]; }

  // Of two nodes in one storage: does element k of the one lie where that of the other does?
  constexpr bool same_place(int a, int b) const { return first_in_block(g_, a) == first_in_block(g_, b); }

  constexpr level operand_level(group const& gr, int operand, op_kind kind) const {
    value_info const& info = g_.info(operand);
    factors const of = info.dims.bounds == 0 ? factors{} : info.dims.count_factors();
    bool const full = info.count() == gr.rows * gr.cols && of == gr.of_count && info.dims.rank > 0 && info.dims.at(-1) == cols_of(gr);
    if (full) return level::full;
    if (kind == op_kind::col_reduce && info.count() == gr.rows && of == gr.of_rows && info.dims.row_length() == 1) return level::row;
    return level::none;
  }

  constexpr bool reads_own_row(group const& gr, int operand, int base, level reader) const {
    location const& l = out.where.of[operand];
    bool const whole = reader == level::full && out.levels[base] == level::full;
    if (l.numbers.offset != quantity{} || (!whole && out.levels[base] != level::row)) return false;
    row_col const at = row_col_strides(g_.info(operand).dims, l.numbers, reader == level::full ? cols_of(gr) : bounded(1));
    if (!at.found) return false;
    if (whole) return (gr.cols == 1 || at.col == exactly(1)) && (gr.rows == 1 || at.row == proportional(gr.cols, gr.of_cols));
    return at.col == quantity{} && (gr.rows == 1 || at.row == exactly(1));
  }

  // A kernel goes over the columns of a row once, and once more after each reduction of the row that something waits for. A node is
  // computed, and stored, in the first sweep that has all it needs; a later one that needs it may compute it again.
  constexpr int sweep_in(int id, int at) const {
    int sweep = 0;
    for (int k = 0, inputs = inputs_of(id); k < inputs; ++k) {
      int const base = base_of(g_.input(id, k));
      if (out.group_of[base] == at && sweep_[base] > sweep) sweep = sweep_[base];
    }
    return sweep + (g_[id].op->kind == op_kind::row_reduce);
  }

  // A node stored over another value comes after all who read that value; in one kernel only if it reads the same element. What it
  // reads of that value itself must not be read again in a later sweep.
  constexpr bool overwrites_in_time(int id, int at) const {
    int const old = overwritten(id);
    if (old < 0) return true;
    if (sweep_in(id, at) < out.groups[at].last_sweep)
      for (int k = 0, inputs = inputs_of(id); k < inputs; ++k)
        if (same_storage(base_of(g_.input(id, k)), old)) return false;
    for (int k = at; k < out.groups.size(); ++k) {
      group const& other = out.groups[k];
      if (other.region != g_[id].region) continue;
      for (int base : other.reads) {
        if (!same_storage(base, old)) continue;
        if (k > at || other.reduces_rows || !same_place(base, old) || !dense_reader(k, base, id)) return false;
      }
    }
    return true;
  }
  // Do the nodes of a group read of `base`, element by element, what `id` is stored over? A product at its head never does.
  constexpr bool dense_reader(int at, int base, int id) const {
    group const& gr = out.groups[at];
    for (int n : gr.nodes)
      for (int k = 0, inputs = inputs_of(n); k < inputs; ++k) {
        int const operand = g_.input(n, k);
        if (base_of(operand) != base) continue;
        if (n == gr.head || out.levels[n] != level::full || count_in(g_.info(operand).dims) != count_in(g_.info(id).dims) ||
            !shows_in_order(operand))
          return false;
      }
    return true;
  }

  constexpr bool shows_in_order(int operand) const { return passes::shows_in_order(g_, out.where, operand); }

  graph const& g_;
  kernel_limits const limits_;
  vec<char> sweep_{};  // node -> the sweep of its group in which it is computed
};

}  // namespace tx::passes::detail
