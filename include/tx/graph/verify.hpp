// What every graph must satisfy, checked when it has been recorded, when it has been simplified and when its values have places (plan/compile.hpp): a pass
// that breaks it does not compile.
#pragma once

#include <tx/graph/graph.hpp>
#include <tx/graph/leaf.hpp>

namespace tx {

namespace detail {

constexpr void verify_node(graph const& g, int id) {
  node const& n = g[id];
  if (n.op == nullptr) throw invalid("verify: a node has no op");
  if (n.op->arity >= 0 && n.inputs != n.op->arity) throw invalid("verify: a node has another number of inputs than its op takes");
  if (n.region < 0 || n.region >= g.regions.size()) throw invalid("verify: a node is in no region");
  constexpr int most = 16;  // more than any op with an arity takes, and attention
  bool const declared = n.op->kind == op_kind::leaf || n.op->kind == op_kind::index || n.op->kind == op_kind::region ||
                        n.op->kind == op_kind::result || n.inputs > most;
  value_info in[most] = {};
  for (int k = 0; k < n.inputs; ++k) {
    int const from = g.input(n, k);
    if (from < 0 || from >= id) throw invalid("verify: an input does not come before its reader");
    node const& read = g[from];
    if (read.region != n.region && !g.is_number_of_program(from)) throw invalid("verify: a value of another region is read without being an argument");
    if (!declared) in[k] = read.info;
  }
  if (g.is_result_of_op(id) && (result_number(n.at) >= g[g.input(n, 0)].op->results || g.input(n, 0) + 1 + result_number(n.at) != id))
    throw invalid("verify: a result of an op is not directly behind it, in its place");
  if (n.op == &result_info && g[g.input(n, 0)].op == &repeat_info) {
    region const& body = g.regions[run_region(g[g.input(n, 0)].at)];
    bool const its_own = body.owner == g.input(n, 0);  // else verify_region() says so
    if (its_own && (result_number(n.at) >= body.results.size() || g.info(body.results[result_number(n.at)]).type != n.info.type)) throw invalid("verify: a region's result is of another type than what its body hands out");
  }
  if (g.has_results(id)) {
    for (int k = 0; k < n.op->results; ++k)
      if (id + 1 + k >= g.size() || !g.is_result_of_op(id + 1 + k) || g.input(id + 1 + k, 0) != id ||
          (!declared && !(g.info(id + 1 + k) == n.op->infer_result(in, n.inputs, n.at, k))))
        throw invalid("verify: an op with several results lacks one, or one is of another shape or type than its shape rule gives");
  }
  if (declared) return;
  value_info info = n.op->infer(in, n.inputs, n.at);
  if (!(info == n.info)) throw invalid("verify: a node's shape or type is not what its op's shape rule gives");
}

constexpr void verify_region(graph const& g, int id) {
  region const& r = g.regions[id];
  if (r.owner < 0) return;  // dead
  node const& owner = g[r.owner];
  if (owner.op->kind != op_kind::region || run_region(owner.at) != id || owner.region != r.parent) throw invalid("verify: a region's node is not its own");
  if (r.arguments.size() != r.carries + r.invariants + r.stacked || owner.inputs != r.arguments.size() || r.results.size() < r.carries)
    throw invalid("verify: a region's lists disagree in length");
  for (int k = 0; k < r.arguments.size(); ++k) {
    node const& a = g[r.arguments[k]];
    if (a.op != &argument_info || argument_number(a.at) != k || argument_region(a.at) != id || a.region != id) throw invalid("verify: a region's argument is not where it is listed");
    if (k >= r.carries && g.input(owner, k) >= r.arguments[k]) throw invalid("verify: an argument comes before what is handed in");
    value_info outside = g.info(g.input(owner, k));
    if (k >= r.carries + r.invariants) {
      if (outside.dims.rank == 0 || outside.dims.dim[0] != r.iterations || outside.dims.is_bounded(0)) throw invalid("verify: a stacked input has another leading extent than iterations");
      outside.dims = outside.dims.inner();
    }
    if (!(outside == a.info)) throw invalid("verify: an argument differs from what is handed in");
    if (k < r.carries && !(g.info(r.results[k]) == a.info)) throw invalid("verify: a carry changes its shape or type");
  }
  if (r.turn && (r.parent == 0 || r.turn.every < 1)) throw invalid("verify: a region takes turns in no loop");
  for (int v : r.results)
    if (g[v].region != id && !g.is_number_of_program(v)) throw invalid("verify: a region's result is computed elsewhere");
}

}  // namespace detail

// Returns the graph, so that passes can be wrapped.
constexpr graph const& verify(graph const& g) {
  for (int i = 0, end = g.size(); i < end; ++i) detail::verify_node(g, i);
  for (int r = 1; r < g.regions.size(); ++r) detail::verify_region(g, r);
  for (output const& o : g.outputs) {
    if (o.value < 0 || o.value >= g.size() || g[o.value].region != 0) throw invalid("verify: an output is no value of the program");
    if (o.kind == output_kind::assign && (o.target < 0 || !(g.info(o.target) == g.info(o.value))))
      throw invalid("verify: a value replaces a leaf of another shape or type");
  }
  return g;
}

}  // namespace tx
