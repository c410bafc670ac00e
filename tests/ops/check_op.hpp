// An op against a plain function: its value, and its gradient against central differences of that function, in f64.
#pragma once

#include "../furthest.hpp"
#include "../interpreter/evaluator.hpp"
#include "../interpreter/passes.hpp"
#include "arrays.hpp"

#include <tx/autodiff/reverse.hpp>
#include <tx/passes/expand.hpp>

#include <catch2/catch.hpp>

#include <functional>

using op_builder = std::function<tx::var(std::vector<tx::var> const&)>;
using plain_function = std::function<array(std::vector<array> const&)>;

struct built_op {
  tx::graph g{};
  std::vector<tx::var> leaves{};
  tx::var result{};

  built_op(std::vector<array> const& args, op_builder const& build) {
    for (array const& a : args) {
      tx::attributes at{};
      at.v[0] = static_cast<std::int64_t>(leaves.size());
      tx::op_info const& kind = tx::is_float(a.type) ? tx::parameter_info : tx::input_info;
      leaves.push_back(tx::emit_leaf(g, kind, {a.type, a.dims}, at));
    }
    result = build(leaves);
  }
  // Gradients of sum(result * weights), -1 for leaves that have none.
  tx::vec<int> differentiate(array const& weights) {
    tx::attributes at{};
    at.v[0] = static_cast<std::int64_t>(leaves.size());
    tx::var const w = tx::emit_leaf(g, tx::input_info, {result.type(), weights.dims}, at);
    tx::vec<int> wanted{};
    for (tx::var const& leaf : leaves)
      if (g[leaf.id].op == &tx::parameter_info) wanted.push_back(leaf.id);
    return at_run_time::gradients(g, tx::sum_all(result * w).id, wanted);
  }
};

// Output values of a graph, as recorded, or with attention written out and simplified.
inline std::vector<values> run_graph(tx::graph const& g, std::vector<array> const& args, bool simplified) {
  tx::graph const program = simplified ? at_run_time::written_out(g) : g;
  evaluator const result(program, [&](tx::node const& leaf) { return args[static_cast<std::size_t>(leaf.at.v[0])].v; });
  std::vector<values> out;
  for (tx::output const& o : program.outputs) out.push_back(result[o.value]);
  return out;
}

// Checks values and, unless there is none, the gradient. `tolerance` is that of the gradient.
inline void check_op(std::string const& name, std::vector<array> args, op_builder const& build, plain_function const& plain,
                     bool has_gradient = true, double tolerance = 1e-8) {
  built_op op(args, build);
  std::string what = name;
  for (array const& a : args) what += " " + std::string(tx::name_of(a.type)) + "[" + [&] {
    std::string s;
    for (int i = 0; i < a.dims.rank; ++i) s += (i > 0 ? ", " : "") + std::to_string(a.dims.dim[i]);
    return s;
  }() + "]";
  INFO(what);
  array const wanted = plain(args);
  REQUIRE(op.result.dims() == wanted.dims);
  op.g.outputs.push_back({op.result.id});

  number_source numbers(7);
  array const weights = numbers.spread(wanted.dims, 0.3, 1.7);
  tx::vec<int> gradients{};
  if (has_gradient) gradients = op.differentiate(weights);
  for (int id : gradients)
    if (id >= 0) op.g.outputs.push_back({id});
  std::vector<array> all = args;
  all.push_back(weights);
  for (bool simplified : {false, true}) {
    INFO((simplified ? "simplified" : "as recorded"));
    auto const out = run_graph(op.g, all, simplified);
    CHECK(distance(out[0], wanted.v) < 1e-12);
    std::size_t next = 1;
    int leaf = 0;
    for (std::size_t k = 0; k < args.size() && has_gradient; ++k) {
      if (!tx::is_float(args[k].type)) continue;
      bool const given = gradients[leaf++] >= 0;
      values measured;
      values told;
      std::size_t const n = args[k].v.size();
      std::size_t const stride = n / 24 + 1;
      for (std::size_t e = 0; e < n; e += stride) {
        double const kept = args[k].v[e];
        auto loss_at = [&](double by) {
          args[k].v[e] = kept + by;
          array const y = plain(args);
          args[k].v[e] = kept;
          double sum = 0;
          for (std::size_t i = 0; i < y.v.size(); ++i) sum += y.v[i] * weights.v[i];
          return sum;
        };
        double const h = 1e-3;
        measured.push_back((8 * (loss_at(h) - loss_at(-h)) - (loss_at(2 * h) - loss_at(-2 * h))) / (12 * h));
        told.push_back(given ? out[next][e] : 0);
      }
      INFO("gradient of operand " << k);
      CHECK(distance(told, measured) < tolerance);
      next += given;
    }
  }
}

// What the shape rule says against these operands.
inline std::string refusal(std::vector<array> const& args, op_builder const& build) {
  try {
    built_op const tried(args, build);
  } catch (tx::invalid const& e) {
    return e.what();
  }
  return "accepted";
}
