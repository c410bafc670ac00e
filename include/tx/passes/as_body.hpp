// A recorded graph becomes the body of a region of another: as a shard of a batch that runs once, or for its parts one after the other.
//
//   one           l = mean(matmul(x, w))
//   in a body     region 1 of arguments x1, w1: l1 = mean(matmul(x1, w1))          the regions of `one` lie inside it
// Nodes of different regions are never merged, so each such body is compiled to the same kernels in the same order.
#pragma once

#include <tx/graph/numbers_read.hpp>
#include <tx/graph/order.hpp>
#include <tx/expr/var.hpp>
#include <tx/ops/gather_all.hpp>
#include <tx/ops/random.hpp>

namespace tx::passes {

class body_of_graph {
 public:
  // Its regions follow those of g, in the region that nodes of g go to now.
  constexpr body_of_graph(graph& g, graph const& one) : g_(g), one_(one), home_(g.current), first_(g.regions.size()), numbers_(g.numbers.size()), map_(one.size(), -1) {
    for (region const& from : one.regions) {  // region k of `one` becomes first_ + k
      region r = from;
      r.parent = from.parent + first_;
      r.arguments.clear();
      r.results.clear();
      g.regions.push_back(r);
    }
    g.regions[first_].parent = home_;
    for (int r = first_; r < g.regions.size(); ++r) g.loops_around(r);  // refuses what is too deep
    g.take_program_facts(one);
    for (std::int64_t n : one.numbers) g.numbers.push_back(n);
  }

  constexpr int id() const { return first_; }
  constexpr region& body() { return g_.regions[first_]; }

  // Leaves of `one` that are handed in: arguments of the step, parameters, states, rows of parameters. Run-time scalars are read everywhere.
  static constexpr bool is_handed_in(graph const& one, int id) { return one[id].op == &input_info || one[id].op == &parameter_info || one[id].op == &block_info; }

  // One more argument of the body; `leaf`, of `one`, is read through it, -1: it is none of its leaves. Carries first, then invariants, then
  // what is stacked; the caller counts them.
  constexpr int argument(int outside, value_info const& info, int leaf) {
    g_.current = first_;
    int const inside = emit_leaf(g_, argument_info, info, of_argument(inputs_.size(), first_)).id;
    g_.current = home_;
    body().arguments.push_back(inside);
    inputs_.push_back(outside);
    if (leaf >= 0) map_[leaf] = inside;
    return inside;
  }

  // All nodes of `one`, whose leaves have been handed in. shard: which rows of random numbers are the body's.
  constexpr void copy_nodes(int shard) {
    numbers_read_ = tx::detail::read_from_outside(one_, [&](int region_id, int id) { return is_of_body(region_id, id); });
    handed_in_ = vec<vec<int>>(one_.regions.size());  // region -> the argument of each such number
    for (int r = 1; r < one_.regions.size(); ++r) {  // they are the last of its invariants
      handed_in_[r] = vec<int>(numbers_read_[r].size(), -1);
      g_.regions[first_ + r].invariants += numbers_read_[r].size();
    }
    for (int i : order_of_nodes(one_))
      if (map_[i] < 0) copy(i, shard);
    g_.current = home_;
    g_.site = 0;
  }
  // What a node of `one` has become.
  constexpr int operator[](int id) const { return map_[id]; }

  // The node that runs the body, once its results are listed.
  constexpr int close() {
    g_.current = home_;
    value_info info = g_.info(body().results[0]);
    int const owner = g_.emit(&repeat_info, inputs_.data(), inputs_.size(), of_region(first_), info);
    body().owner = owner;
    return owner;
  }

 private:
  // Numbers of the program that a region of `one` reads: here they are values of the body around it, and are handed in.
  constexpr bool is_of_body(int region_id, int id) const { return one_[id].region == region_id && !is_handed_in(one_, id); }
  constexpr int first_stacked(int r) const { return one_.regions[r].carries + one_.regions[r].invariants; }

  constexpr int seen_from(int reader, int id) {
    vec<int> around{};  // the bodies that hand it in, from the inside
    for (int r = reader; r != 0 && !is_of_body(r, id); r = one_.regions[r].parent) around.push_back(r);
    int const here = g_.current;
    int seen = map_[id];
    for (int a = around.size() - 1; a >= 0; --a) {  // each is given what the one around it has
      int const r = around[a];
      int k = 0;
      while (numbers_read_[r][k] != id) ++k;
      g_.current = first_ + r;
      if (handed_in_[r][k] < 0)
        handed_in_[r][k] = emit_leaf(g_, argument_info, one_.info(id), of_argument(first_stacked(r) + k, first_ + r)).id;
      seen = handed_in_[r][k];
    }
    g_.current = here;
    return seen;
  }

  constexpr void copy(int i, int shard) {
    node const& n = one_[i];
    attributes at = n.at;
    if (n.op == &argument_info) {
      int const r = argument_region(at), k = argument_number(at);
      if (k >= one_.regions[r].carries) seen_from(one_.regions[r].parent, one_.input(one_.regions[r].owner, k));
      at = of_argument(k >= first_stacked(r) ? k + numbers_read_[r].size() : k, r + first_);
    }
    if (n.op == &repeat_info) at = of_region(run_region(at) + first_);
    if (n.op->random) at = of_random(random_stream(at), shard, random_own_rows(at), random_all_rows(at));
    if (n.op == &gather_all_info) at = of_gathered(first_number(at) + numbers_, gathered_rows(at));
    g_.current = first_ + n.region;
    g_.when = n.when;
    g_.site = n.site;
    vec<int> in{};
    for (int k = 0; k < n.inputs; ++k) in.push_back(seen_from(n.region, one_.input(n, k)));
    if (n.op == &repeat_info) {
      int const r = run_region(n.at);
      region const& body = one_.regions[r];
      vec<int> all{};
      for (int k = 0; k < first_stacked(r); ++k) all.push_back(in[k]);
      for (int id : numbers_read_[r]) all.push_back(seen_from(n.region, id));
      for (int k = first_stacked(r); k < n.inputs; ++k) all.push_back(in[k]);
      in = all;
      for (int id : body.results) g_.regions[first_ + r].results.push_back(seen_from(r, id));
      vec<int>& arguments = g_.regions[first_ + r].arguments;
      for (int k = 0; k < first_stacked(r); ++k) arguments.push_back(map_[body.arguments[k]]);
      for (int id : handed_in_[r]) arguments.push_back(id);
      for (int k = first_stacked(r); k < body.arguments.size(); ++k) arguments.push_back(map_[body.arguments[k]]);
    }
    map_[i] = g_.emit(n.op, in.data(), in.size(), at, n.info);
    if (g_.has_results(map_[i])) g_.emit_results(map_[i]);
    if (n.op == &repeat_info) g_.regions[run_region(at)].owner = map_[i];
  }

  graph& g_;
  graph const& one_;
  int home_, first_, numbers_;
  vec<int> map_;               // node of `one` -> of g
  vec<int> inputs_{};          // of the node that will run the body
  vec<vec<int>> numbers_read_{}, handed_in_{};
};

}  // namespace tx::passes
