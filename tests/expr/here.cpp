// Lines that a model marks: which nodes carry them, through passes and into gradients.
#include <tx/autodiff/reverse.hpp>
#include <tx/dist/shard.hpp>
#include <tx/expr/here.hpp>
#include <tx/ops/exp.hpp>
#include <tx/ops/log.hpp>
#include <tx/ops/sqrt.hpp>
#include <tx/ops/sum.hpp>
#include <tx/passes/assign_storage.hpp>
#include <tx/passes/rewrite.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace {

using namespace tx;

// Lines of the nodes of an op, -1 where none is known.
std::vector<int> lines_of(graph const& g, op_info const& op) {
  std::vector<int> lines;
  for (node const& n : g.nodes)
    if (n.op == &op) lines.push_back(n.site == 0 ? -1 : g.sites[n.site - 1].line);
  return lines;
}

constexpr int outer_line = __LINE__ + 6, inner_line = __LINE__ + 9;

graph recorded() {
  graph g{};
  var const x = emit_leaf(g, parameter_info, {dtype::f32, shape{1, {}, {4}}});
  var y = exp(x);
  auto const line = here(x);
  y = log(y);
  for (int k = 0; k < 3; ++k) {
    auto const within = here(y);
    y = sqrt(y);
  }
  g.outputs.push_back({sum_all(y).id});
  return g;
}

}  // namespace

TEST_CASE("a line is carried by what is recorded while it lives") {
  graph const g = recorded();
  CHECK(lines_of(g, exp_info) == std::vector<int>{-1});
  CHECK(lines_of(g, log_info) == std::vector<int>{outer_line});
  CHECK(lines_of(g, sqrt_info) == std::vector<int>(3, inner_line));
  CHECK(lines_of(g, row_sum_info) == std::vector<int>{outer_line});
  CHECK(g.sites.size() == 2);  // each once
  CHECK(std::string(g.sites[0].file).ends_with("here.cpp"));
}

TEST_CASE("passes and shards keep lines, gradients have those of what they are of") {
  graph g = recorded();
  vec<int> leaves{};
  leaves.push_back(0);
  int const forward = g.size();
  g.outputs.push_back({gradients(g, g.outputs[0].value, leaves)[0]});
  CHECK(g.site == 0);
  int of_log = 0;
  for (int i = forward; i < g.size(); ++i) of_log += g[i].site != 0 && g.sites[g[i].site - 1].line == outer_line;
  CHECK(of_log > 0);

  graph const simple = passes::assign_storage(passes::simplify(g)).nodes;
  CHECK(lines_of(simple, log_info) == std::vector<int>{outer_line});
  CHECK(lines_of(simple, exp_info).front() == -1);

  graph all{};
  vec<int> wanted{};
  wanted.push_back(g.outputs[0].value);
  dist::append_shard(all, g, wanted, 0, 1);
  CHECK(lines_of(all, sqrt_info) == lines_of(g, sqrt_info));
}
