// Carries of a loop that loops in its body go on from, one after the other, and hand on: all of them have one buffer. So sums over parts of a batch are carried through the loops over
// blocks that add to them.
//
//   for each part: S' = for each layer: S'' = S'' + ..., beginning with S
#pragma once

#include <tx/passes/storage.hpp>

namespace tx::passes {

class continued_carries {
 public:
  constexpr explicit continued_carries(graph const& g) : g_(g) {
    bool nested = false;
    for (region const& r : g.regions) nested = nested || (r.parent != 0 && r.owner >= 0);
    if (!nested) return;
    continues_ = vec<char>(g.size(), 0);
    note_readers();
    for (int r = 1; r < g.regions.size(); ++r)
      for (int k = 0; g.regions[r].owner >= 0 && k < g.regions[r].carries; ++k) follow(g.regions[r], k);
  }

  // Is the carry that an argument stands for one of the loop around its own, from one of that one's iterations to the next? Nothing reads what it was before once its own loop has begun:
  // what stands before that is computed before it (overwritten()).
  constexpr bool operator()(int argument) const { return !continues_.empty() && continues_[argument] != 0; }

 private:
  constexpr void note_readers() {
    int const size = g_.size();
    last_ = vec<int>(size, -1);
    times_ = vec<int>(size, 0);
    seen_ = vec<char>(size, 0);
    given_ = vec<int>(size, 0);
    results_ = vec<vec<int>>(g_.regions.size());
    for (int r = 1; r < g_.regions.size(); ++r) {
      results_[r] = vec<int>(g_.regions[r].carries, -1);
      for (int value : g_.regions[r].results) ++given_[value];
    }
    for (int id = 0; id < size; ++id) {
      node const& n = g_[id];
      for (int k = 0; k < n.inputs; ++k) {
        int const value = g_.input(n, k);
        if (n.op->kind == op_kind::view) seen_[value] = 1;
        times_[value] = last_[value] == id ? times_[value] + 1 : 1;
        last_[value] = id;
      }
      if (n.op != &result_info || g_.is_result_of_op(id)) continue;
      vec<int>& of_loop = results_[run_region(g_[g_.input(n, 0)].at)];
      if (int const k = result_number(n.at); k < of_loop.size()) of_loop[k] = id;
    }
  }
  // From what an iteration of a loop begins with, from loop to loop in its body, to what it ends with.
  constexpr void follow(region const& outer, int carry) {
    vec<int> arguments{};
    int value = outer.arguments[carry];
    while (given_[value] == 0) {
      int const loop = last_[value];
      if (loop < 0 || g_[loop].op != &repeat_info || times_[value] != 1 || seen_[value]) return;
      region const& body = g_.regions[run_region(g_[loop].at)];
      int k = 0;
      while (g_.input(loop, k) != value) ++k;
      if (k >= body.carries || value > body.arguments[k]) return;
      arguments.push_back(body.arguments[k]);
      value = results_[run_region(g_[loop].at)][k];
      if (value < 0) return;
    }
    if (given_[value] != 1 || outer.results[carry] != value) return;
    for (int argument : arguments) continues_[argument] = 1;
  }

  graph const& g_;
  vec<char> continues_{};  // argument
  vec<int> last_{};        // value -> the last node that reads it, and how often that one does
  vec<int> times_{};
  vec<char> seen_{};       // is there a view of it?
  vec<int> given_{};       // how often it is a result of its region
  vec<vec<int>> results_{};  // region -> the node of each carry's last value; -1: nobody reads it
};

}  // namespace tx::passes
