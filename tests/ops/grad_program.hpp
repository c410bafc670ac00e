// A compiled program that hands back what a loss returns and the gradients of all parameters, and what both should be.
#pragma once

#include "../furthest.hpp"
#include "../interpreter/evaluator.hpp"
#include "../interpreter/passes.hpp"
#include "arrays.hpp"

#include <tx/autodiff/reverse.hpp>
#include <tx/backends/cpu.hpp>
#include <tx/backends/reference.hpp>
#include <tx/ops/gather_all.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>

// Loss(model, x...) returns the loss, or an aggregate whose first member is the loss.
template <class Model, auto Loss, tx::compile_options Options = tx::compile_options{}, bool Training = false>
struct grad_program {
  using model = Model;
  using call = tx::callable<std::remove_const_t<decltype(Loss)>, Model>;
  using arguments = typename call::arguments;
  struct result {
    typename call::result values;
    tx::tensor<tx::element_t<tx::layout<Model>::type>, static_cast<int>(tx::layout<Model>::size / tx::block_row), tx::block_row> gradient;
  };
  static constexpr int states = 0;

  static constexpr void record(tx::graph& g) {
    g.training = Training;
    tx::trace<Model, Loss>(g);
    tx::vec<int> leaves{};
    for (int i = 0; i < g.size(); ++i)
      if (g[i].op == &tx::parameter_info) leaves.push_back(i);
    tx::vec<int> const grads = tx::gradients(g, g.outputs[0].value, leaves);
    tx::attributes const at{{g.numbers.size(), tx::layout<Model>::size / tx::block_row}};
    tx::vec<int> parts{};
    for (int k = 0; k < leaves.size(); ++k) {
      if (grads[k] < 0) continue;
      parts.push_back(grads[k]);
      g.numbers.push_back(g[leaves[k]].at.v[0]);
    }
    g.outputs.push_back({g.emit(&tx::gather_all_info, parts.data(), parts.size(), at), tx::output_kind::result, -1});
  }
  struct source {
    static constexpr tx::exec::lowered lower(tx::target const& to) {
      tx::graph g{};
      record(g);
      return tx::exec::compile(g, to, Options);
    }
  };
  template <tx::target const& To>
  using program = tx::exec::program<source, To>;
};

inline constexpr tx::compile_options unfused{.fuse = false};

// The results of such a program, one list for each: first what the loss returns, last the flat gradient.
template <class Result>
std::vector<values> as_values(Result r) {
  std::vector<values> all;
  tx::for_each_result(r, [&](auto const& t) {
    values v;
    for (auto x : tx::elements_of(t)) v.push_back(static_cast<double>(x));
    all.push_back(v);
  });
  return all;
}

// The same by the interpreter, in f64.
template <class Model, auto Loss>
std::vector<values> interpreted(values const& block, std::vector<values> const& inputs) {
  tx::graph g{};
  g.training = false;
  tx::trace<Model, Loss>(g);
  tx::vec<int> leaves{};
  for (int i = 0; i < g.size(); ++i)
    if (g[i].op == &tx::parameter_info) leaves.push_back(i);
  tx::vec<int> const grads = at_run_time::gradients(g, g.outputs[0].value, leaves);
  evaluator const result(g, [&](tx::node const& leaf) {
    auto const k = leaf.at.v[0];
    if (leaf.op == &tx::input_info) return inputs[static_cast<std::size_t>(k)];
    return values(block.begin() + k, block.begin() + k + leaf.info.count());
  });
  std::vector<values> all;
  for (tx::output const& o : g.outputs) all.push_back(result[o.value]);
  values flat(block.size(), 0.0);
  for (int k = 0; k < leaves.size(); ++k)
    if (grads[k] >= 0) std::copy(result[grads[k]].begin(), result[grads[k]].end(), flat.begin() + g[leaves[k]].at.v[0]);
  all.push_back(flat);
  return all;
}

// The largest distance of any result of the program from the interpreter's, with the parameters of `seed`.
template <class Program, class Backend, auto Loss, class... In>
double distance_from_interpreter(std::vector<In> const&... in) {
  tx::executor<Program, Backend> run{tx::seed(5), {.threads = 2}};
  values block;
  for (auto x : run.elements()) block.push_back(static_cast<double>(x));
  auto const wanted = interpreted<typename Program::model, Loss>(block, {values(in.begin(), in.end())...});
  double furthest = 0;
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second run finds the first one's values in the arena
    auto const told = as_values(run(in...));
    if (told.size() != wanted.size()) return INFINITY;
    for (std::size_t k = 0; k < told.size(); ++k) keep_furthest(furthest, distance(told[k], wanted[k]));
  }
  return furthest;
}
