// Records the body of a repeated block into a region of its own. What the body reads from around it, it is handed as an argument
// (graph::seen_here), so that nobody lists what is the same in each iteration.
//
//   body_recorder body(g, 12, false);        12 iterations, forwards
//   h = body.carry(h0), w = body.slice(ws)   what goes from iteration to iteration, what each has its own slice of
//   body.close({h + w * x}, {})              next carries, values to stack; x is an invariant now
//   body.last(0)                             the last h, in the region around
#pragma once

#include <tx/expr/stacked.hpp>
#include <tx/expr/state.hpp>
#include <tx/graph/graph.hpp>

namespace tx::detail {

class body_recorder {
 public:
  constexpr body_recorder(graph& g, int iterations, bool reversed) : g_(g), id_(g.regions.size()) {
    region body{};
    body.parent = g.current;
    body.iterations = iterations;
    body.reversed = reversed;
    body.open = true;
    g.regions.push_back(body);
    g.current = id_;
  }

  // All carries come before the first slice, and both before the body.
  constexpr int carry(int first) {
    ++body().carries;
    int const outside = seen_around(first);
    return g_.add_argument(id_, outside, g_.info(outside));
  }
  // all: [iterations, extents...] -> [extents...]
  constexpr int slice(int all) {
    ++body().stacked;
    int const outside = seen_around(all);
    return g_.add_argument(id_, outside, unstacked(g_.info(outside)));
  }

  // Ends the body: the next value of each carry, and what is stacked over the iterations. States of which the body sees slices, and
  // changes them, are changed as a whole.
  constexpr void close(vec<int> const& next, vec<int> const& stacked_values) {
    vec<state_change> here{}, around{};
    for (state_change const& c : g_.changes) (g_[c.state].region == id_ ? here : around).push_back(c);
    g_.changes = around;
    for (vec<int> const* values : {&next, &stacked_values})
      for (int value : *values) body().results.push_back(g_.seen_here(value));
    int const first_change = body().results.size();
    for (state_change& c : here) {
      body().results.push_back(g_.seen_here(c.value));
      c.state = given_to(c.state);
    }
    region& done = body();
    done.invariants = done.arguments.size() - done.carries - done.stacked;
    vec<int> order{};  // recorded as carries, slices, invariants
    for (int k = 0; k < done.carries; ++k) order.push_back(k);
    for (int k = 0; k < done.invariants; ++k) order.push_back(done.carries + done.stacked + k);
    for (int k = 0; k < done.stacked; ++k) order.push_back(done.carries + k);
    vec<int> arguments{}, inputs{};
    for (int k : order) {
      g_.nodes[done.arguments[k]].at = of_argument(inputs.size(), id_);
      arguments.push_back(done.arguments[k]);
      inputs.push_back(done.given[k]);
    }
    done.arguments = arguments;
    done.given.clear();
    done.open = false;
    g_.current = done.parent;
    int const owner = g_.emit(&repeat_info, inputs.data(), inputs.size(), of_region(id_), g_.info(done.results[0]));
    body().owner = owner;
    for (int k = 0; k < here.size(); ++k) change_state(g_, here[k].state, all(first_change + k - body().carries));
  }

  constexpr int last(int carry_at) const { return result(carry_at, g_.info(body().results[carry_at])); }
  // [extents...] of each iteration -> [iterations, extents...]
  constexpr int all(int stacked_at) const {
    int const k = body().carries + stacked_at;
    return result(k, stacked(g_.info(body().results[k]), body().iterations));
  }

 private:
  // A value as the region around this one sees it, to which it may have to be handed first.
  constexpr int seen_around(int id) {
    g_.current = body().parent;
    int const outside = g_.seen_here(id);
    g_.current = id_;
    return outside;
  }
  constexpr region& body() { return g_.regions[id_]; }
  constexpr region const& body() const { return g_.regions[id_]; }
  // What an argument is a slice of.
  constexpr int given_to(int argument) const {
    int k = 0;
    while (body().arguments[k] != argument) ++k;
    return body().given[k];
  }
  constexpr int result(int k, value_info const& info) const {
    int const owner = body().owner;
    return g_.emit(&result_info, &owner, 1, of_result(k), info);
  }

  graph& g_;
  int id_;
};

}  // namespace tx::detail
