// A function of a model, recorded without dropout, its gradients, and its values at fixed pseudo-random parameters.
#pragma once

#include "../interpreter/evaluator.hpp"
#include "../interpreter/passes.hpp"

#include <tx/autodiff/reverse.hpp>
#include <tx/expr/parameter_names.hpp>
#include <tx/expr/trace.hpp>
#include <tx/passes/rewrite.hpp>

#include <cmath>
#include <set>

template <class Model, auto F>
struct recorded {
  tx::graph g;
  tx::vec<int> parameters;  // leaves, in the order of the layout; of a peeled repeat the parts that it reads
  tx::vec<int> gradients;   // -1: the loss does not depend on it

  explicit recorded(bool training = false) {
    g.training = training;
    tx::trace<Model, F>(g);
    std::set<int> read(g.operands.begin(), g.operands.end());
    for (int i = 0; i < g.size(); ++i) {
      if (g[i].op != &tx::parameter_info) continue;
      bool parts = false;  // a later leaf is part of it
      for (int k = i + 1; k < g.size(); ++k) parts = parts || (g[k].op == &tx::parameter_info && g[k].at.v[1] == g[i].at.v[1]);
      if (read.count(i) != 0 || !parts) parameters.push_back(i);
    }
  }
  // Of the first result, which must be a scalar. Outputs 1, 2, ... are the gradients there are.
  void differentiate() {
    gradients = at_run_time::gradients(g, g.outputs[0].value, parameters);
    for (int gradient : gradients)
      if (gradient >= 0) g.outputs.push_back({gradient});
  }
  // All outputs, after simplification if asked for.
  std::vector<values> run(std::vector<values> const& inputs, bool simplified = false) const {
    tx::graph const program = simplified ? at_run_time::simplified(g) : g;
    evaluator const result(program, [&](tx::node const& leaf) {
      if (leaf.op == &tx::input_info) return inputs.at(static_cast<std::size_t>(leaf.at.v[0]));
      if (block.empty()) {
        tx::layout_entry const& e = tx::layout<Model>::entries[static_cast<int>(leaf.at.v[1])];
        values const whole = parameter(static_cast<int>(leaf.at.v[1]), static_cast<std::size_t>(e.info.count()));
        auto const start = whole.begin() + (leaf.at.v[0] - e.offset);
        return values(start, start + leaf.info.count());
      }
      auto const first = block.begin() + leaf.at.v[0];
      return values(first, first + leaf.info.count());
    });
    std::vector<values> all;
    for (tx::output const& o : program.outputs) all.push_back(result[o.value]);
    return all;
  }
  // The derivative of the first result with respect to an element of leaf number `which`, by differences.
  double difference(std::vector<values> const& inputs, int which, std::size_t element) {
    tx::node const& leaf = g[parameters[which]];
    moved_parameter = static_cast<int>(leaf.at.v[1]);
    moved_element = element + static_cast<std::size_t>(leaf.at.v[0] - tx::layout<Model>::entries[moved_parameter].offset);
    double const step = 1e-5;
    moved_by = step;
    double const up = run(inputs)[0][0];
    moved_by = -step;
    double const down = run(inputs)[0][0];
    moved_parameter = -1;
    return (up - down) / (2 * step);
  }

  // The values of a parameter, unless `block` holds those of all.
  values block;
  values parameter(int which, std::size_t count) const {
    values v(count);
    for (std::size_t i = 0; i < count; ++i)
      v[i] = 0.6 * std::sin(1.7 * static_cast<double>(i) + 0.9 * static_cast<double>(which) + 0.3);
    if (which == moved_parameter) v[moved_element] += moved_by;
    return v;
  }

 private:
  int moved_parameter = -1;
  std::size_t moved_element = 0;
  double moved_by = 0;
};

template <class Model>
std::set<std::string> names_of() {
  std::set<std::string> names;
  for (auto const& p : tx::parameters_of<Model>()) names.insert(p.name);
  return names;
}

// The tensors of `layers` encoder layers, as Hugging Face names them.
inline void add_layer_names(std::set<std::string>& names, std::string const& prefix, int layers) {
  for (int i = 0; i < layers; ++i)
    for (char const* module :
         {"attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
          "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm"})
      for (char const* kind : {".weight", ".bias"})
        names.insert(prefix + "layer." + std::to_string(i) + "." + module + kind);
}
