// accumulate<N>: a batch in N parts, one after the other, each with the memory of a part. The gradients of all are summed in a block
// beside the parameters; then one update is made from their mean.
#pragma once

#include <tx/ops/minimum.hpp>
#include <tx/train/options.hpp>
#include <tx/train/updates.hpp>

namespace tx::detail {

// Adds each gradient to its sum where it is complete.
struct sum_at_once final : gradient_user {
  int block;
  constexpr explicit sum_at_once(int sums) : block(sums) {}
  constexpr bool wants(node const&) const override { return true; }
  constexpr void use(gradient_site& site) override {
    graph& g = *site.g;
    g.when = phase::update;
    int id = -1;
    var const sum = site.leaf(block_info, attributes{{block, g[site.parameter].at.v[0]}}, id);
    site.assign(id, sum + cast(site.gradient, sum.type()));
    g.when = phase::backward;
  }
  constexpr ~sum_at_once() = default;
};

// All of a model's sums over `parts` parts, in block `sums_block`: clipped, used for the update, and cleared for the next step.
template <class Model, class Optimizer>
constexpr void record_update_from_sums(graph& g, int sums_block, int parts, step_options const& options) {
  g.when = phase::update;
  auto const sums_of = [&](std::int64_t first, shape const& dims) {
    return emit_leaf(g, block_info, value_info{layout<Model>::type, dims}, attributes{{sums_block, first}});
  };
  auto const rows = [](std::int64_t count) { return shape{2, {}, {static_cast<int>(count / block_row), block_row}}; };
  var scale = constant(g, layout<Model>::type, 1.0 / parts);
  if (options.clips || options.tells_norm) {
    var const mean = sums_of(0, rows(layout<Model>::trained)) * scale;
    var const norm = sqrt(sum_all(mean * mean));
    if (options.tells_norm) g.outputs.push_back({norm.id, output_kind::result, -1});
    if (options.clips) scale = scale * minimum(cast(run_time_scalar(g, scalar::clip_norm), norm.type()) / (norm + 1e-6), 1.0);
  }
  update_all<Model, Optimizer>(g, [&](std::int64_t first, shape const& dims) {
    return sums_of(first, dims) * scale;
  });
  for (layout_group const& group : layout<Model>::groups) {
    if (!group.trained) continue;
    var const sums = sums_of(group.first, rows(group.count));
    g.outputs.push_back({broadcast_to(constant(g, sums.type(), 0), sums.dims()).id, output_kind::assign, sums.id});
  }
}

}  // namespace tx::detail
