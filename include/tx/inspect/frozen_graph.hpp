// What a step was recorded as, to be printed or asked about:
//
//   std::puts(tx::to_text(tx::graph_of<step>()).c_str());             // a node a line; tx::to_dot for Graphviz
//   tx::passes::to_text(tx::passes::explain(graph, producer, consumer))  // why two nodes are in different kernels
//
// The graph that a program was lowered from, as a constant. Recorded again at run time it could have its nodes in
// another order, as C++ does not say which argument of a function is evaluated first; from the constant the same
// program is lowered.
#pragma once

#include <tx/backends/cpu/target.hpp>
#include <tx/expr/scalar.hpp>
#include <tx/graph/print.hpp>
#include <tx/plan/compile.hpp>

namespace tx::exec {

struct frozen_graph {
  struct flat_region {
    region of{};  // without its lists
    int arguments = 0, results = 0;
  };
  bounded_array<node, 8192> nodes;
  bounded_array<int, 32768> operands;
  bounded_array<flat_region, 64> regions;
  bounded_array<int, 8192> lists;  // arguments, then results of each region
  bounded_array<output, 4096> outputs;
  bounded_array<std::int64_t, 8192> numbers;
  bounded_array<declared_setting, max_settings> settings;
  bound_table bound_of;
  compile_options options;
  std::int64_t recomputed_flops;
};

namespace detail {

template <class T, int N>
constexpr void append_to(bounded_array<T, N>& to, T const& item) {
  if (to.count == N)
    throw invalid(
        "outline_of: the graph is larger than tx::exec::frozen_graph. FIX: use repeat<N, Block> for blocks of equal "
        "shape");
  to.items[to.count++] = item;
}

constexpr frozen_graph freeze_graph(inspection const& seen, lowered const& l) {
  if (l.no_gradient.op != nullptr)
    throw invalid(
        "outline_of: an op between the loss and a parameter has no gradient. FIX: give its op_info a vjp, or put "
        "stop_gradient(x) around its operand");
  frozen_graph f{};
  graph const& g = seen.nodes;
  for (node const& n : g.nodes) append_to(f.nodes, n);
  for (int const o : g.operands) append_to(f.operands, o);
  for (region const& r : g.regions) {
    frozen_graph::flat_region flat{};
    flat.of.parent = r.parent;
    flat.of.iterations = r.iterations;
    flat.of.carries = r.carries;
    flat.of.invariants = r.invariants;
    flat.of.stacked = r.stacked;
    flat.of.reversed = r.reversed;
    flat.of.parts = r.parts;
    flat.of.turn = r.turn;
    flat.of.of_ranks = r.of_ranks;
    flat.of.owner = r.owner;
    flat.arguments = r.arguments.size();
    flat.results = r.results.size();
    append_to(f.regions, flat);
    for (int const a : r.arguments) append_to(f.lists, a);
    for (int const a : r.results) append_to(f.lists, a);
  }
  for (output const& o : g.outputs) append_to(f.outputs, o);
  for (std::int64_t const n : g.numbers) append_to(f.numbers, n);
  for (declared_setting const& s : g.settings) append_to(f.settings, s);
  f.bound_of = g.bound_of;
  f.options = seen.options;
  f.recomputed_flops = l.memory.recomputed_flops;
  return f;
}

}  // namespace detail

// Source::lower(target, inspection*) as far as the graph, in tables of its size.
template <class Source, target const& To>
struct kept_graph {
 private:
  static constexpr frozen_graph loose = [] {
    inspection seen{};
    seen.graph_only = true;
    lowered const l = Source::lower(To, &seen);
    return detail::freeze_graph(seen, l);
  }();

 public:
  static constexpr auto nodes = freeze<node, loose.nodes.count>(loose.nodes);
  static constexpr auto operands = freeze<int, loose.operands.count>(loose.operands);
  static constexpr auto regions = freeze<frozen_graph::flat_region, loose.regions.count>(loose.regions);
  static constexpr auto lists = freeze<int, loose.lists.count>(loose.lists);
  static constexpr auto outputs = freeze<output, loose.outputs.count>(loose.outputs);
  static constexpr auto numbers = freeze<std::int64_t, loose.numbers.count>(loose.numbers);
  static constexpr auto settings = freeze<declared_setting, loose.settings.count>(loose.settings);
  static constexpr bound_table bound_of = loose.bound_of;
  static constexpr compile_options options = loose.options;
  static constexpr std::int64_t recomputed_flops = loose.recomputed_flops;
};

template <class Tables>
TX_COLD graph thawed(Tables const& f) {
  graph g{};
  for (node const& n : f.nodes) g.nodes.push_back(n);
  for (int const o : f.operands) g.operands.push_back(o);
  g.regions.clear();
  int next = 0;
  for (frozen_graph::flat_region const& flat : f.regions) {
    region r = flat.of;
    for (int k = 0; k < flat.arguments; ++k) r.arguments.push_back(f.lists[next++]);
    for (int k = 0; k < flat.results; ++k) r.results.push_back(f.lists[next++]);
    g.regions.push_back(r);
  }
  for (output const& o : f.outputs) g.outputs.push_back(o);
  for (std::int64_t const n : f.numbers) g.numbers.push_back(n);
  for (declared_setting const& s : f.settings) g.settings.push_back(s);
  g.bound_of = f.bound_of;
  return g;
}

}  // namespace tx::exec

namespace tx {

// The graph of a train_step, value_and_grad or function, differentiated and simplified. It is kept by a constant evaluation of its own.
template <class Step, target const& To = cpu_target>
TX_COLD graph graph_of() {
  return exec::thawed(exec::kept_graph<typename Step::source, To>{});
}

}  // namespace tx
