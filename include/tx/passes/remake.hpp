// A value that a kernel reads is made again there, where the kernel reads all that it is made of anyway and making it costs little: for targets whose kernels wait for memory. If nobody
// reads it any more it is not stored.
//
//   before   {s = x - mean, r = rsqrt(v), n = s * r, y = n * scale}, later {column_sum(d * n), d * s, d * r}: s, r and n are stored
//   after    {s, r, n, y}, later {n' = s * r, column_sum(d * n'), d * s, d * r}: s and r are, n is not
#pragma once

#include <tx/ops/copy.hpp>
#include <tx/passes/groups.hpp>

namespace tx::passes {

namespace detail {

class remaker {
 public:
  constexpr remaker(graph& g, fusion& f, kernel_limits const& limits) : g_(g), f_(f), limits_(limits) {}

  constexpr void run() {
    for (int i = 0; i < f_.groups.size(); ++i) {
      if (!takes(f_.groups[i])) continue;
      // From the last on: what makes a value again may be made again, too.
      for (int value = next_before(f_.groups[i], g_.size()); value >= 0; value = next_before(f_.groups[i], value))
        if (f_.groups[i].nodes.size() < limits_.nodes && is_remade(i, value)) remake(i, value);
    }
  }

 private:
  // What a library does at the end of a product is no kernel of its own, and who overwrites what it reads reads it once.
  static constexpr bool takes(group const& gr) { return gr.fusible && !gr.ends && !gr.overwrites; }
  // Of what a group reads, the value of the greatest number below `id`; -1: there is none.
  static constexpr int next_before(group const& gr, int id) {
    int next = -1;
    for (int base : gr.reads)
      if (base < id && base > next) next = base;
    return next;
  }
  constexpr int base_of(int operand) const { return f_.where.of[operand].base; }

  constexpr bool is_remade(int at, int value) const {
    int const maker = f_.group_of[value];
    node const& n = g_[value];
    if (maker < 0 || maker == at || n.op->kind != op_kind::elementwise || n.op->costly || n.op == &copy_info) return false;
    group const &gr = f_.groups[at], &from = f_.groups[maker];
    bool const alike = from.fusible && from.region == gr.region && from.rows == gr.rows && from.cols == gr.cols && from.of_rows == gr.of_rows && from.of_cols == gr.of_cols;
    if (!alike || f_.levels[value] != level::full || f_.where.places[value].kind != place_kind::own || !is_read_in(from, value)) return false;
    for (int id : gr.nodes)
      for (int k = 0; k < g_[id].inputs; ++k)
        if (base_of(g_.input(id, k)) == value && (id == gr.head || !shows_as_it_is(g_.input(id, k), value))) return false;
    for (int k = 0; k < n.inputs; ++k)
      if (!is_at_hand(gr, g_.input(n, k))) return false;
    return true;
  }
  // Does the kernel that makes it need it? Else that would be left with a value that nobody reads.
  constexpr bool is_read_in(group const& maker, int value) const {
    for (int id : maker.nodes)
      for (int k = 0; k < g_[id].inputs; ++k)
        if (base_of(g_.input(id, k)) == value) return true;
    return false;
  }
  // Does an operand show the value's elements in their order, in rows of the same width?
  constexpr bool shows_as_it_is(int operand, int value) const {
    shape const &dims = g_.info(operand).dims, &of = g_.info(value).dims;
    return count_in(dims) == count_in(of) && innermost(dims) == innermost(of) && shows_in_order(g_, f_.where, operand);
  }
  // Is it a constant, or does the group read it from memory in the same way? (A random number or a position is computed where it is read.)
  constexpr bool is_at_hand(group const& gr, int operand) const {
    op_kind const kind = g_[base_of(operand)].op->kind;
    if (kind == op_kind::constant || kind == op_kind::index) return kind == op_kind::constant;
    for (int id : gr.nodes)
      for (int k = 0; k < g_[id].inputs; ++k)
        if (g_.input(id, k) == operand && id != gr.head) return true;
    return false;
  }

  constexpr void remake(int at, int value) {
    group& gr = f_.groups[at];
    int const made = copy_of(value);
    int first = gr.nodes.size();
    for (int place = gr.nodes.size() - 1; place >= 0; --place) {
      int const reader = gr.nodes[place];
      for (int k = 0; k < g_[reader].inputs; ++k) {
        if (base_of(g_.input(reader, k)) != value) continue;
        int const seen = view_of(made, g_.input(reader, k));
        g_.operands[g_[reader].first + k] = seen;
        first = place;
      }
    }
    g_.nodes[made].when = g_[gr.nodes[first]].when;
    f_.group_of[made] = at;
    vec<int> nodes{}, reads{};
    for (int place = 0; place < gr.nodes.size(); ++place) {
      if (place == first) nodes.push_back(made);
      nodes.push_back(gr.nodes[place]);
    }
    for (int base : gr.reads)
      if (base != value) reads.push_back(base);
    for (int k = 0; k < g_[made].inputs; ++k)
      if (int const base = base_of(g_.input(made, k)); g_[base].op->kind == op_kind::constant) reads.push_back(base);
    gr.nodes = static_cast<vec<int>&&>(nodes);
    gr.reads = static_cast<vec<int>&&>(reads);
  }
  // A node like it, and what is known of one.
  constexpr int copy_of(int id) {
    node n = g_[id];
    int const first = g_.operands.size();
    for (int k = 0; k < n.inputs; ++k) g_.operands.push_back(g_.input(id, k));
    n.first = first;
    g_.nodes.push_back(n);
    int const copy = g_.size() - 1;
    location l = f_.where.of[id];
    if (l.base == id) l.base = l.root = copy;
    f_.where.of.push_back(l);
    f_.where.places.push_back(placement{});
    f_.where.moved.push_back(0);
    f_.where.shared.push_back(copy);
    f_.group_of.push_back(-1);
    f_.levels.push_back(f_.levels[id]);
    f_.handed_on.push_back(0);
    return copy;
  }
  // What a reader sees of it, as it has seen the value.
  constexpr int view_of(int made, int operand) {
    if (g_[operand].op->kind != op_kind::view) return made;
    int const below = view_of(made, g_.input(operand, 0)), view = copy_of(operand);
    g_.operands[g_[view].first] = below;
    f_.where.of[view].base = f_.where.of[view].root = made;
    return view;
  }

  graph& g_;
  fusion& f_;
  kernel_limits const& limits_;
};

}  // namespace detail

// New nodes stand at the end of the table, behind their readers: who needs an order asks order_of_nodes().
constexpr void remake(graph& g, fusion& f, kernel_limits const& limits) { detail::remaker(g, f, limits).run(); }

}  // namespace tx::passes
