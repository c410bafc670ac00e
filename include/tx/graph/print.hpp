// A graph as text, one node a line, and as Graphviz dot. For people and tests; not used while compiling.
#pragma once

#include <tx/graph/graph.hpp>
#include <tx/graph/leaf.hpp>

#include <string>

namespace tx {

inline std::string to_string(value_info const& info) {
  std::string s = std::string(name_of(info.type)) + "[";
  for (int i = 0; i < info.dims.rank; ++i) {
    if (i > 0) s += ", ";
    if (info.dims.is_bounded(i)) s += "<=";
    s += std::to_string(info.dims.dim[i]);
  }
  return s + "]";
}

// Any graph-like object: graph itself, or a frozen one. name_of(node): what stands behind it, as the name of a parameter; see also
// inspect/outline_names.hpp.
template <class Graph, class NameOf>
std::string to_text(Graph const& g, NameOf const& name_of_node) {
  std::string s;
  for (int i = 0; i < g.nodes.size(); ++i) {
    node const& n = g.nodes[i];
    s += std::string(static_cast<std::size_t>(n.region != 0 ? 2 : 0), ' ') + "%" + std::to_string(i) + " = " + n.op->name + "(";
    for (int k = 0; k < n.inputs; ++k) s += (k > 0 ? ", %" : "%") + std::to_string(g.operands[n.first + k]);
    s += ")";
    int used = 0;
    for (int k = 0; k < max_rank; ++k)
      if (n.at.v[k] != 0) used = k + 1;
    if (used > 0 && n.op->kind != op_kind::constant) {
      s += " {";
      for (int k = 0; k < used; ++k) s += (k > 0 ? ", " : "") + std::to_string(n.at.v[k]);
      s += "}";
    }
    if (n.op->kind == op_kind::constant) s += " {" + std::to_string(std::bit_cast<double>(n.at.v[0])) + "}";
    std::string const name = name_of_node(n);
    s += " : " + to_string(n.info) + (name.empty() ? "" : "  " + name) + "\n";
  }
  return s;
}
template <class Graph>
std::string to_text(Graph const& g) {
  return to_text(g, [](node const&) { return std::string(); });
}

template <class Graph>
std::string to_dot(Graph const& g) {
  std::string s = "digraph tx {\n  node [shape=box, fontname=monospace];\n";
  for (int i = 0; i < g.nodes.size(); ++i) {
    node const& n = g.nodes[i];
    s += "  n" + std::to_string(i) + " [label=\"" + n.op->name + "\\n" + to_string(n.info) + "\"];\n";
    for (int k = 0; k < n.inputs; ++k)
      s += "  n" + std::to_string(g.operands[n.first + k]) + " -> n" + std::to_string(i) + ";\n";
  }
  return s + "}\n";
}

}  // namespace tx
