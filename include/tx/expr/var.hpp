// var: the untyped handle, a node of a graph under construction. Gradients, passes and optimizers compute with it.
#pragma once

#include <tx/graph/graph.hpp>

#include <initializer_list>

namespace tx {

struct var {
  graph* g = nullptr;
  int id = -1;

  constexpr bool valid() const { return id >= 0; }
  constexpr value_info const& info() const { return g->info(id); }
  constexpr shape const& dims() const { return g->info(id).dims; }
  constexpr dtype type() const { return g->info(id).type; }
};

constexpr var emit(op_info const& op, std::initializer_list<var> in, attributes const& at = {}) {
  int ids[8] = {};
  int n = 0;
  graph* g = nullptr;
  for (var const& v : in) {
    ids[n++] = v.id;
    g = v.g;
  }
  value_info infos[8];  // inferred here and not in the graph, as a compiler shows each call on the way to a rule that is broken
  for (int k = 0; k < n; ++k) infos[k] = g->info(ids[k]);
  return {g, g->emit(&op, ids, n, at, op.infer(infos, n, at))};
}

// An op with several results, and each of them.
constexpr var emit_several(op_info const& op, vec<var> const& in, attributes const& at = {}) {
  vec<int> ids{};
  for (var const& v : in) ids.push_back(v.id);
  graph* const g = in[0].g;
  int const owner = g->emit(&op, ids.data(), ids.size(), at);
  g->emit_results(owner);
  return {g, owner};
}
constexpr var result_of(var const& several, int k) { return {several.g, several.id + 1 + k}; }

constexpr var emit_leaf(graph& g, op_info const& op, value_info const& info, attributes const& at = {}) {
  return {&g, g.emit(&op, nullptr, 0, at, info)};
}

// What a gradient rule sees. Values of the forward pass are fetched through it, so that inside a repeated block only those
// that are used become residuals.
struct vjp_context {
  graph* g = nullptr;
  int id = -1;          // the node whose gradient is taken
  var gradient{};       // of its output; of several, the first that has one
  vec<var> gradients{};  // of an op with several results: of each; one that has none is not valid()

  constexpr virtual var forward(int node_id) = 0;          // the value, usable where gradients are computed
  constexpr virtual bool wanted(int node_id) const = 0;    // does the gradient of this value matter?
  constexpr virtual void add(int node_id, var value) = 0;  // adds to the gradient of a node

  constexpr node const& self() const { return (*g)[id]; }
  constexpr attributes const& at() const { return (*g)[id].at; }
  constexpr var in(int k) { return forward(input(k)); }
  constexpr var out() { return forward(id); }
  constexpr var out(int k) { return forward(id + 1 + k); }  // of several
  constexpr value_info in_info(int k) const { return g->info(input(k)); }
  constexpr bool needs(int k) const { return wanted(input(k)); }
  constexpr void accumulate(int k, var value) { add(input(k), value); }

 protected:
  constexpr ~vjp_context() = default;

 private:
  // Behind the operands of a node lie those of the next, which would take the gradient in silence.
  constexpr int input(int k) const {
    if (k < 0 || k >= self().inputs)
      throw invalid("a gradient rule names an input that its op does not have. FIX: c.accumulate(k, ...) and c.in(k) with k from 0 on, below the op's number of operands");
    return g->input(id, k);
  }
};

// What a simplification rule sees: a node about to be emitted.
struct simplify_context {
  graph& g;
  op_info const* op;
  int const* in;
  int count;
  attributes const& at;
  value_info const& info;

  constexpr var input(int k) const { return {&g, in[k]}; }
  constexpr node const& producer(int k) const { return g[in[k]]; }
};

}  // namespace tx
