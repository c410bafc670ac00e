// Kernels as types. A fused group is straight-line code with shared values and several results:
//   fused<columns, ins<in<...>...>, lets<let<rule, ...>...>, outs<out<...>...>>
// columns: any_columns; whole_columns, a multiple of what the target says (target::whole_columns), so that no vector is cut short, of rows that begin where it
// says (target::whole_bytes); or the number of such columns, where the target has kernels for it (target::known_columns).
// Values are numbered: inputs first, then lets. Equal groups are one type and one kernel, whatever their extents.
#pragma once

#include <tx/core/fixed.hpp>
#include <tx/graph/op_info.hpp>

namespace tx::exec {

// How a kernel reads an input at (row, column).
enum class access : std::uint8_t {
  contiguous,  // columns lie side by side
  strided,     // columns lie at a stride
  row,         // one element per row
  constant,    // a number of the call
  position,    // the index along an axis
  random,      // a uniform number
  product,     // the product at the head of the group
};

constexpr bool varies_by_column(access a) { return a != access::row && a != access::constant; }

enum class form : std::uint8_t { map, row_reduce, col_reduce };

struct in_sig {
  dtype type;
  access how;
  constexpr bool operator==(in_sig const&) const = default;
};

template <class Op>
struct basic_let_sig {
  Op op;
  dtype type;
  form shape;
  int operand[3];
  int operands;
};
using let_sig = basic_let_sig<op_info const*>;

struct out_sig {
  int value;
  dtype type;
  form shape;  // map: an element per element or row; col_reduce: one per column
  bool per_row;  // col_reduce: the sum of one value per row, a single element
  constexpr bool operator==(out_sig const&) const = default;
};

template <dtype D, access A>
struct in {
  static constexpr in_sig sig{D, A};
};
template <class Rule, dtype D, form F, bool Costly, int... Operand>
struct let {
  using rule = Rule;
  static constexpr dtype type = D;
  static constexpr form shape = F;
  static constexpr bool costly = Costly;
  static constexpr int count = sizeof...(Operand);
  static constexpr int operand[3] = {Operand...};
};
template <int Value, dtype D, form F, bool PerRow>
struct out {
  static constexpr out_sig sig{Value, D, F, PerRow};
};

template <class... In>
struct ins {
  static constexpr int count = sizeof...(In);
};
template <class... Let>
struct lets {
  static constexpr int count = sizeof...(Let);
};
template <class... Out>
struct outs {
  static constexpr int count = sizeof...(Out);
};

inline constexpr int any_columns = 0, whole_columns = 1;
template <int Columns, class Ins, class Lets, class Outs>
struct fused {};

// A product whose rows go through an epilogue; input 0 of the epilogue is the product.
template <dtype D, class Epilogue>
struct gemm {};

// An op that sees whole dense operands, and random numbers that it draws itself.
template <class Rule, class Results, class Ins>
struct whole {};
template <dtype... D>
struct elements {};

// An op that acts on all ranks, on whole dense operands; the result's type first. Only a `distributed` backend has such kernels.
template <class Rule, dtype... D>
struct collective {};

// Of a collective op: `run(communicator, attributes, out, in...)`.
template <op_info const* Op>
struct collective_rule;

// Sets bytes to zero.
struct zero {};

// When the values of a row kernel are computed. Sweep p goes over the columns once; a row reduction made in sweep p is a
// number from sweep p + 1 on. Values of an earlier sweep are computed again, or stashed where that would cost more.
inline constexpr int max_values = 160;
// What a row kernel keeps beside its operands.
struct row_buffers {
  int element = 4;       // bytes of the widest value
  int stashes = 0;       // rows
  int column_sums = 0;   // of full rows
  int row_sums = 0;      // of one value per row
  bool by_element = false;  // nothing is made of a whole row or column, so any part of them may be computed by itself
};
struct row_sweeps : row_buffers {
  int values = 0;
  int inputs = 0;
  int sweeps = 1;
  bool by_column[max_values] = {};
  int sweep[max_values] = {};   // the first in which the value can be computed
  int stash[max_values] = {};  // slot, or -1
  int sum[max_values] = {};    // number among the column sums of its kind, or -1
};

// The values that vary by column and are needed in one sweep over the columns.
struct sweep_demand {
  bool value[max_values] = {};
  bool from_stash[max_values] = {};
  bool any = false;
};

template <class Sigs>
constexpr sweep_demand demand_of(Sigs const& s, row_sweeps const& p, int sweep) {
  sweep_demand d{};
  auto demand = [&](int v) {
    d.value[v] = d.value[v] || p.by_column[v];
    d.any = d.any || p.by_column[v];
  };
  for (int k = 0; k < s.lets(); ++k) {
    auto const l = s.let(k);
    if (l.shape != form::map && p.sweep[l.operand[0]] == sweep) {
      demand(l.operand[0]);
      if (l.shape == form::row_reduce) d.any = true;
    }
    int const v = p.inputs + k;
    if (p.stash[v] >= 0 && p.sweep[v] == sweep) demand(v);
  }
  for (int o = 0; o < s.outputs(); ++o) {
    auto const out = s.out(o);
    if (out.shape != form::map || out.per_row || p.sweep[out.value] != sweep) continue;
    demand(out.value);
    d.any = true;
  }
  for (int v = p.values - 1; v >= p.inputs; --v) {
    if (!d.value[v]) continue;
    if (p.sweep[v] < sweep && p.stash[v] >= 0) {
      d.from_stash[v] = true;
      continue;
    }
    auto const l = s.let(v - p.inputs);
    if (l.shape != form::map) continue;
    for (int o = 0; o < l.operands; ++o) demand(l.operand[o]);
  }
  return d;
}

// sigs: anything with in(i), let(i), out(i) and their counts.
template <class Sigs>
constexpr row_sweeps analyse(Sigs const& s) {
  row_sweeps p{};
  p.inputs = s.inputs();
  p.values = p.inputs + s.lets();
  p.by_element = true;
  for (int k = 0; k < s.lets(); ++k) p.by_element = p.by_element && s.let(k).shape == form::map;
  for (int o = 0; o < s.outputs(); ++o) p.by_element = p.by_element && !s.out(o).per_row;
  if (p.values > max_values) throw invalid("a fused group has more values than a kernel may hold");
  bool costly[max_values] = {};
  for (int i = 0; i < p.inputs; ++i) {
    p.by_column[i] = varies_by_column(s.in(i).how);
    p.stash[i] = p.sum[i] = -1;
    costly[i] = s.in(i).how == access::random;
    if (size_of(s.in(i).type) == 8) p.element = 8;
  }
  for (int k = 0; k < s.lets(); ++k) {
    auto const l = s.let(k);
    int const v = p.inputs + k;
    p.stash[v] = p.sum[v] = -1;
    for (int o = 0; o < l.operands; ++o) {
      if (p.sweep[l.operand[o]] > p.sweep[v]) p.sweep[v] = p.sweep[l.operand[o]];
      if (l.shape == form::map && p.by_column[l.operand[o]]) p.by_column[v] = true;
    }
    costly[v] = l.costly;
    if (size_of(l.type) == 8) p.element = 8;
    if (l.shape == form::row_reduce) p.sweep[v] += 1;
    if (l.shape == form::col_reduce) p.sum[v] = p.by_column[l.operand[0]] ? p.column_sums++ : p.row_sums++;
    if (p.sweep[v] + 1 > p.sweeps) p.sweeps = p.sweep[v] + 1;
  }
  // A costly chain of an earlier sweep is stashed where a later one asks for it.
  for (int sweep = 1; sweep < p.sweeps; ++sweep) {
    sweep_demand d = demand_of(s, p, sweep);
    for (int v = p.values - 1; v >= p.inputs; --v) {
      if (!d.value[v] || p.sweep[v] >= sweep || p.stash[v] >= 0 || s.let(v - p.inputs).shape != form::map) continue;
      bool chain[max_values] = {};  // what computing it again would take
      chain[v] = true;
      int cost = 0;
      for (int u = v; u >= 0; --u) {
        if (!chain[u] || (u != v && p.stash[u] >= 0)) continue;
        cost += costly[u] ? 16 : 1;
        if (u < p.inputs) continue;
        auto const m = s.let(u - p.inputs);
        for (int o = 0; o < m.operands; ++o) chain[m.operand[o]] = chain[m.operand[o]] || p.by_column[m.operand[o]];
      }
      if (cost <= 8) continue;
      p.stash[v] = p.stashes++;
      d = demand_of(s, p, sweep);  // what only the chain needed is needed no more
    }
  }
  return p;
}

// The signature lists of a fused type, for analyse().
template <class F>
struct signatures_of;
template <int Columns, class... In, class... Let, class... Out>
struct signatures_of<fused<Columns, ins<In...>, lets<Let...>, outs<Out...>>> {
  struct let_view {
    dtype type;
    form shape;
    bool costly;
    int operand[3];
    int operands;
  };
  fixed<in_sig, sizeof...(In)> in_list{{In::sig...}};
  fixed<let_view, sizeof...(Let)> let_list{{{Let::type, Let::shape, Let::costly, {Let::operand[0], Let::operand[1], Let::operand[2]}, Let::count}...}};
  fixed<out_sig, sizeof...(Out)> out_list{{Out::sig...}};
  constexpr int inputs() const { return sizeof...(In); }
  constexpr int lets() const { return sizeof...(Let); }
  constexpr int outputs() const { return sizeof...(Out); }
  constexpr in_sig const& in(int i) const { return in_list[i]; }
  constexpr let_view const& let(int i) const { return let_list[i]; }
  constexpr out_sig const& out(int i) const { return out_list[i]; }
};

template <class F>
inline constexpr row_sweeps row_sweeps_of = analyse(signatures_of<F>{});

}  // namespace tx::exec
