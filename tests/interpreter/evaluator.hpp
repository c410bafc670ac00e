// Runs a graph in f64, by plain loops, node by node: what these tests compare modules and compiled programs with. Compiled once for all of them.
#pragma once

#include "whole_rule.hpp"

#include <tx/core/philox.hpp>
#include <tx/graph/graph.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

using values = std::vector<double>;

// How a graph is run, beyond plain arithmetic in f64.
struct evaluation {
  bool every_leaf = false;  // blocks of state and run-time scalars too are asked for
  bool rounded = false;     // each value to its type, as kernels do
  bool random = false;      // numbers are drawn, as in a run from `key` at `step`; else a graph with random numbers is an error
  tx::philox_key key{};
  std::uint32_t step = 0;
  int portion = 0;  // of what ranks divide, the number of this one's
  double noise = 0;         // each value is off by up to so many times the precision of its type: what other orders of sums may do
  std::uint32_t noise_seed = 1;
};

class evaluator {
 public:
  using leaf_values = std::function<values(tx::node const&)>;

  // leaf(node): the value of an input or a parameter, dense.
  evaluator(tx::graph const& g, leaf_values const& leaf, evaluation const& how = {});

  values const& operator[](int id) const { return value_[static_cast<std::size_t>(id)]; }

  // Computes what the graph has gained since; in a body that is still being recorded, what follows from arguments that are set.
  void extend(leaf_values const& leaf);
  // The value of an argument of a body that is being recorded.
  void set(int argument, values v);

 private:
  values& at(int id) { return value_[static_cast<std::size_t>(id)]; }

  void run(int region);
  bool ready(tx::node const& n) const;
  void compute(int id, tx::node const& n);
  void settle(tx::node const& n, tx::dtype type, values& out);
  double drawn();
  bool as_good_as_equal(tx::dtype type, double const (&a)[3]) const;
  void draw(tx::node const& n, values& out) const;
  void several(int id, tx::node const& n);
  void whole(tx::node const& n, whole_results const& to);
  double const* next_slice(int argument) const;
  void repeat(int id, tx::node const& n);

  tx::graph const& g_;
  evaluation how_;
  std::uint32_t noise_;
  int iteration_ = 0;
  std::size_t parts_ = 1, part_ = 0;  // of a batch
  std::vector<values> value_;
  std::map<int, std::vector<values>> results_;
  std::map<int, std::size_t> slice_;  // region -> which one its iteration at hand sees
  std::vector<int> waiting_;  // nodes of bodies that are being recorded, for arguments that are not set
};
