// What drawn programs consist of, counted: a generator that stopped drawing something would find nothing there.
#pragma once

#include "finish.hpp"

#include <fstream>
#include <regex>
#include <set>

namespace drawn {

struct coverage {
  std::map<std::string, int> ops;       // nodes of recorded graphs, by op
  std::map<std::string, int> features;  // programs, or places in them, by what is peculiar about them

  void add(program const& p, graph const& g) {
    auto const feature = [&](std::string const& name, int times = 1) { features[name] += times; };
    static char const* const modes[] = {"no training", "update at once", "clipped", "accumulated", "sharded"};
    feature(modes[static_cast<int>(p.end.mode)]);
    if (int const runs = detail::runs_of(p.end); runs > 1) feature("an update of " + std::to_string(runs) + " runs");
    if (p.end.mode != training::none) feature("optimizer " + std::to_string(p.end.optimizer));
    if (int const zero = detail::zero_of(p.end); zero > 0) feature("ranks divide, stage " + std::to_string(zero));
    if (p.end.narrows) feature("narrowed");
    if (p.end.halves != 0) feature("mixed precision");
    if (p.end.recomputes && p.end.mode != training::none) feature("recomputed");
    if (p.most > 0) feature("bounded extent");
    for (int i = 0; i < g.size(); ++i) node(g, i, feature);
    for (int r = 1; r < g.regions.size(); ++r)
      if (g.regions[r].owner >= 0) region(g, g.regions[r], feature);
    for (tx::output const& o : g.outputs)
      if (o.kind == tx::output_kind::assign) {
        feature("a leaf is replaced");
        if (g[o.value].op == &tx::result_info && g.info(o.value).dims.rank > 0) feature("a leaf is replaced by what a body hands out");
      }
    decisions(p, feature);
  }

 private:
  template <class Feature>
  void node(graph const& g, int id, Feature const& feature) {
    tx::node const& n = g[id];
    shape const& s = n.info.dims;
    ++ops[n.op->name];
    feature("type " + std::string(tx::name_of(n.info.type)));
    feature("rank " + std::to_string(s.rank));
    for (int i = 0; i < s.rank; ++i) {
      char const* const where = i == 0 ? "leading" : i + 1 == s.rank ? "last" : "middle";
      if (s.dim[i] == 1 && s.rank > 1) feature(std::string("a one, ") + where);
      if (s.dim[i] == 0) feature("no elements");
    }
    int bounded = 0, squared = 0;
    for (int i = 0; i < s.rank; ++i) {
      bounded += s.is_bounded(i);
      if (s.is_bounded(i) && i > 0) feature("a bounded extent that is not in front");
    }
    for (int tag : {1, 2}) squared += s.count_factors().count(tag) > 1;
    if (bounded > 1) feature("several bounded extents");
    if (squared > 0) feature("a bounded extent that stands twice");
    if (n.op->kind == tx::op_kind::product) {
      if (s.rank > 2) feature("batched product");
      for (int k = 0; k < 2; ++k) {
        int of = g.input(n, k);
        bool turned = false;
        while (g[of].op->kind == tx::op_kind::view) turned = turned || g[of].op == &tx::transpose_info, of = g.input(of, 0);
        if (turned) feature(k == 0 ? "left side transposed" : "right side transposed");
      }
    }
    if (n.op->kind == tx::op_kind::whole)
      for (int k = 0; k < n.inputs; ++k) {
        tx::op_kind const kind = g[g.input(n, k)].op->kind;
        if (kind == tx::op_kind::view) feature("a whole op reads a view");
        if (g[g.input(n, k)].op == &tx::argument_info) feature("a whole op reads an argument");
      }
    if (n.op == &tx::slice_info && tx::detail::slice_facts_of(n.at).step > 1) feature("strided slice");
    if (n.op == &tx::attention_info && tx::attention_facts_of(n.at).packed()) {
      feature(tx::attention_facts_of(n.at).keys_apart() ? "packed attention to keys apart" : "packed attention");
      if (s.bounds != 0) feature("packed attention of bounded texts");
    }
  }

  template <class Feature>
  static void region(graph const& g, tx::region const& r, Feature const& feature) {
    feature(r.reversed ? "reversed body" : "forward body");
    feature(r.iterations == 1 ? "one iteration" : "several iterations");
    int around = 0;  // loops of several iterations
    for (int p = r.parent; p != 0; p = g.regions[p].parent) around += g.regions[p].iterations > 1;
    if (r.iterations > 1 && around > 0) feature(around == 1 ? "a loop in a loop" : "three loops in each other");
    feature("carries " + std::to_string(std::min(r.carries, 3)));
    feature("invariants " + std::to_string(std::min(r.invariants, 3)));
    feature("slices " + std::to_string(std::min(r.stacked, 2)));
    if (r.results.size() > r.carries) feature("stacked results");
    std::map<int, int> readers;
    for (int operand : g.operands) ++readers[operand];
    for (int k = 0; k < r.arguments.size(); ++k) {
      int const inside = r.arguments[k], outside = g.input(r.owner, k);
      bool const invariant = k >= r.carries && k < r.carries + r.invariants;
      if (invariant && readers[inside] > 1) feature("an invariant with several readers");
      if (g[outside].op->kind != tx::op_kind::view) continue;
      feature(std::string(k < r.carries ? "carry" : invariant ? "invariant" : "slices") + " of a " + g[outside].op->name);
    }
    for (int k = r.carries; k < r.results.size(); ++k)
      if (g[r.results[k]].op->kind == tx::op_kind::view) feature("a view is stacked");
    for (int i = 0; i < g.size(); ++i) {
      if (g[i].op != &tx::result_info || g.input(i, 0) != r.owner) continue;
      if (readers[i] > 1) feature("a body's result with several readers");
      for (int j = i + 1; j < g.size(); ++j)
        if (g[j].op == &tx::transpose_info && g.input(j, 0) == i) feature("a body's result is read transposed");
    }
    for (int c = 0; c < r.carries; ++c)
      for (int j = 0; j < g.size(); ++j)
        if (g[j].op == &tx::transpose_info && g.input(j, 0) == r.arguments[c]) feature("a carry is read transposed");
  }

  template <class Feature>
  static void decisions(program const& p, Feature const& feature) {
    std::set<int> of_gradients;  // decisions whose values follow from one
    bool any = false;
    for (decision const& d : p.decisions) {
      bool follows = false;
      for (int id : d.in) follows = follows || of_gradients.count(id) != 0;
      if (d.kind == what::gradient) {
        any = true;
        feature(d.home < 0 ? "gradient" : "gradient in a body");
        if (of_gradients.count(d.in[0]) != 0) feature("gradient of a gradient");
      }
      if (follows || d.kind == what::gradient) of_gradients.insert(d.id);
      if (d.kind == what::part) feature("leaves that share elements");
      if (d.kind == what::flat) feature("flat block");
    }
    if (any && p.end.mode != training::none) feature("trained through a gradient");
  }
};

// The names of all ops that headers of a folder define: `inline constexpr op_info NAME_info`.
inline std::set<std::string> ops_defined_in(std::vector<std::string> const& headers) {
  std::set<std::string> names;
  for (std::string const& path : headers) {
    std::ifstream file(path);
    std::string const text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::regex const definition(R"re(constexpr op_info \w+_info\s*=?\s*(?:flat\(|elementwise_op<[^"]*|\{\s*\.name = )*[^"]*"(\w+)")re");
    for (std::sregex_iterator i(text.begin(), text.end(), definition), end; i != end; ++i) names.insert((*i)[1]);
  }
  return names;
}

}  // namespace drawn
