// Ops that pass integers on unchanged, such as concat and casts between integers: what is promised of each element of the result is promised of each element
// of every operand.
#pragma once

#include <tx/graph/graph.hpp>
#include <tx/ops/cast.hpp>
#include <tx/ops/concat.hpp>

namespace tx::passes {

constexpr bool hands_on_elements(graph const& g, int id) {
  node const& n = g[id];
  return is_integer(n.info.type) &&
         (n.op == &concat_info || (n.op == &cast_info && is_integer(g.info(g.input(n, 0)).type)));
}

}  // namespace tx::passes
