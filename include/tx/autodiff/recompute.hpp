// What a backward pass computes again rather than keeps, where the activations of a step have a budget (T. Chen et al., Training
// Deep Nets with Sublinear Memory Cost, arXiv 1604.06174). Elementwise values within repeated blocks are computed again anyway
// (is_kept of reverse.hpp); here it is products and attention, those first that free most bytes for their FLOPs. Plans are compared with the budget
// by recorded_source of train/recorded.hpp.
//
//   all kept       a block stacks q, k, v and its feed-forward's inner product over 12 layers
//   half of that   it stacks q, k and v; the backward block computes the inner product again from its operands
#pragma once

#include <tx/autodiff/reverse.hpp>
#include <tx/ops/attention_facts.hpp>

namespace tx {

struct recomputation {
  vec<char> again{};       // node -> computed again in the backward block
  std::int64_t kept = 0;   // bytes of activations, estimated; the plan knows exactly
  std::int64_t flops = 0;  // that a step spends on it
  bool more = false;       // is there anything else that could be computed again?
};

namespace detail {

// The product that a kept value is, or is the rounding of, with its bias perhaps, or the attention that it is a result of; -1 for any other.
constexpr int product_behind(graph const& g, int id) {
  if (g[id].op->kind == op_kind::elementwise && g[id].inputs == 1) id = g.input(id, 0);
  if (g[id].op == &add_info) id = g.input(id, 0);
  if (g.is_result_of_op(id) && g[g.input(id, 0)].op->multiplied > 0) return g.input(id, 0);
  return g[id].op->kind == op_kind::product ? id : -1;
}
// Of all iterations. Attention is two products: of each query, and each probability, with every key, of which packed texts have as many as the longest may have.
constexpr std::int64_t product_flops(graph const& g, int product) {
  if (g[product].op->kind != op_kind::product) {
    attention_facts const f = attention_facts_of(g[product].at);
    std::int64_t const keys = f.packed() ? f.longest_keys() : g.info(g.input(product, 1)).dims[-2];
    return 4 * g.info(product).count() * keys * g.runs_of(g[product].region);
  }
  return 2 * g.info(product).count() * g.info(g.input(product, 0)).dims.last() * g.runs_of(g[product].region);
}

// Bytes of values outside of repeated blocks that gradients read.
constexpr std::int64_t kept_outside(graph const& g, int first_gradient) {
  vec<char> seen(first_gradient, 0);
  std::int64_t bytes = 0;
  for (int i = first_gradient; i < g.size(); ++i)
    for (int k = 0; k < g[i].inputs; ++k) {
      int id = g.input(i, k);
      while (g[id].op->kind == op_kind::view) id = g.input(id, 0);
      if (id >= first_gradient || g[id].region != 0 || seen[id] || !is_residual(g[id].op->kind)) continue;
      seen[id] = 1;
      bytes += g.info(id).bytes();
    }
  return bytes;
}

}  // namespace detail

// As little work as brings the activations down to `budget` bytes, or everything there is.
constexpr recomputation choose_recomputed(graph const& forward, int loss, vec<int> const& leaves, std::int64_t budget) {
  graph g = forward;
  gradients(g, loss, leaves);
  struct candidate {
    int node, product;
    std::int64_t bytes, flops;
  };
  vec<candidate> candidates{};
  recomputation out{};
  out.again = vec<char>(g.size(), 0);
  out.kept = detail::kept_outside(g, forward.size());
  for (int r = 1; r < forward.regions.size(); ++r)
    for (int k = forward.regions[r].results.size(); k < g.regions[r].results.size(); ++k) {
      int const id = g.regions[r].results[k];
      std::int64_t const bytes = g.info(id).bytes() * g.runs_of(r);
      out.kept += bytes;
      int const product = detail::product_behind(g, id);
      if (product >= 0) candidates.push_back({id, product, bytes, detail::product_flops(g, product)});
    }
  stable_sort(candidates, [](candidate const& a, candidate const& b) {
    return static_cast<double>(a.flops) * static_cast<double>(b.bytes) < static_cast<double>(b.flops) * static_cast<double>(a.bytes);
  });
  int chosen = 0;
  vec<char> take(candidates.size(), 0);
  for (; chosen < candidates.size() && out.kept > budget; ++chosen) {
    take[chosen] = 1;
    out.kept -= candidates[chosen].bytes;
  }
  for (int k = chosen - 1; k >= 0; --k)  // the last one may make an earlier one unnecessary
    if (out.kept + candidates[k].bytes <= budget) {
      take[k] = 0;
      out.kept += candidates[k].bytes;
    }
  for (int k = 0; k < candidates.size(); ++k) {
    if (!take[k]) {
      out.more = true;
      continue;
    }
    out.again[candidates[k].node] = out.again[candidates[k].product] = 1;
    if (g[candidates[k].node].op->kind == op_kind::elementwise) out.again[g.input(candidates[k].node, 0)] = 1;  // what is rounded: a result of attention
    out.flops += candidates[k].flops;
  }
  return out;
}

}  // namespace tx
