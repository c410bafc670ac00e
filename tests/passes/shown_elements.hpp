// Which computed, stored or given element each element of a node is, found from what ops mean, without asking where anything lies.
#pragma once

#include <tx/graph/graph.hpp>
#include <tx/graph/leaf.hpp>
#include <tx/ops/join.hpp>
#include <tx/passes/storage.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

// One number for every element that a run has: what its arguments and flat blocks hold before it, and what kernels compute, each
// iteration anew.
using element_number = std::int64_t;
inline constexpr element_number no_element = -1;    // memory that nobody wrote
inline constexpr element_number part_of_one = -2;   // a byte that is not an element's first
inline constexpr element_number zero_byte = -3;     // cleared
inline constexpr element_number spoiled = -4;       // scratch of a kernel

class shown_elements_of {
 public:
  // moved: views that kernels copy; what they show is theirs.
  shown_elements_of(tx::graph const& g, tx::vec<char> const& moved) : g_(g), moved_(moved) {
    element_number next = 0;
    auto const room = [&](element_number count) { return next += count, next - count; };
    for (int i = 0; i < g.size(); ++i) {
      auto const runs = static_cast<element_number>(g.runs_of(g[i].region));
      int const known = same_leaf(i);
      first_.push_back(known < i ? first_[static_cast<std::size_t>(known)] : room(runs * g.info(i).count()));
      if (!tx::passes::in_block(g, i)) continue;
      auto const block = static_cast<std::size_t>(tx::passes::block_of(g, i));
      if (block >= blocks_.size()) blocks_.resize(block + 1, 0);
      blocks_[block] = std::max(blocks_[block], tx::passes::first_in_block(g, i) + g.info(i).count());
    }
    for (element_number& b : blocks_) b = room(b);
  }

  // A node's own element. Leaves of a flat block have those of the block: some of them overlap.
  element_number own(int id, int iteration, std::int64_t index) const {
    if (tx::passes::in_block(g_, id)) return blocks_[static_cast<std::size_t>(tx::passes::block_of(g_, id))] + tx::passes::first_in_block(g_, id) + index;
    bool const once = g_[id].region == 0 || (g_[id].op->kind == tx::op_kind::leaf && g_[id].op != &tx::argument_info);
    int const run = once ? 0 : iteration;  // numbers of the program are read in regions too
    return first_[static_cast<std::size_t>(id)] + run * g_.info(id).count() + index;
  }

  // The element that a node shows as its number `index`, in an iteration of the region it is in, counted on through the loops around that.
  element_number of(int id, int iteration, std::int64_t index) const {
    tx::node const& n = g_[id];
    if (n.region == 0) iteration = 0;  // numbers of the program are read in regions too
    if (n.op->kind == tx::op_kind::view && moved_[id] == 0) return of(g_.input(id, 0), iteration, through_view(n, index));
    if (n.op == &tx::argument_info) return of_argument(n, iteration, index);
    if (n.op == &tx::result_info && !g_.is_result_of_op(id)) return of_result(n, iteration, index);
    if (n.op == &tx::join_info) return of_joined(id, iteration, index);
    if (n.op->kind == tx::op_kind::gather_all) return of_block_made_of(n, iteration, index);
    return own(id, iteration, index);
  }

 private:
  // An argument or a run-time number may be a node of several regions.
  int same_leaf(int id) const {
    bool const told = g_[id].op == &tx::input_info || g_[id].op == &tx::scalar_info;
    for (int i = 0; told && i < id; ++i)
      if (g_[i].op == g_[id].op && g_[i].at.v[0] == g_[id].at.v[0]) return i;  // an input or a scalar: its number
    return id;
  }

  std::int64_t through_view(tx::node const& n, std::int64_t index) const {
    tx::shape const& given = g_.info(g_.input(n, 0)).dims;
    tx::strided s = tx::passes::dense(given);
    if (!n.op->restride(s, given, n.info.dims, n.at)) throw std::logic_error(std::string(n.op->name) + ": no view of dense elements");
    std::int64_t where = most_of(s.offset);
    for (int a = n.info.dims.rank - 1; a >= 0; --a) {
      where += index % n.info.dims.dim[a] * most_of(s.stride[a]);
      index /= n.info.dims.dim[a];
    }
    return where;
  }

  element_number of_argument(tx::node const& n, int iteration, std::int64_t index) const {
    tx::region const& body = g_.regions[tx::argument_region(n.at)];
    int const k = tx::argument_number(n.at);
    int const given = g_.input(body.owner, k);
    int const outside = iteration / body.iterations, own = iteration % body.iterations;
    if (k >= body.carries + body.invariants) return of(given, outside, own * n.info.count() + index);
    bool const first = own == (body.reversed ? body.iterations - 1 : 0);
    if (k >= body.carries || first) return of(given, outside, index);
    return of(body.results[k], body.reversed ? iteration + 1 : iteration - 1, index);
  }
  element_number of_result(tx::node const& n, int outside, std::int64_t index) const {
    tx::region const& body = g_.regions[tx::run_region(g_[g_.input(n, 0)].at)];
    int const k = tx::result_number(n.at), value = body.results[k];
    if (k < body.carries) return of(value, outside * body.iterations + (body.reversed ? 0 : body.iterations - 1), index);
    std::int64_t const count = g_.info(value).count();
    return of(value, outside * body.iterations + static_cast<int>(index / count), index % count);
  }
  element_number of_joined(int id, int iteration, std::int64_t index) const {
    tx::shape const& all = g_.info(id).dims;
    int const axis = tx::detail::joined_along(g_, id);
    std::int64_t inner = 1;
    for (int a = axis + 1; a < all.rank; ++a) inner *= all.dim[a];
    std::int64_t const place = index / inner % all.dim[axis], outer = index / inner / all.dim[axis];
    int k = g_[id].inputs - 1;
    while (tx::detail::first_along(g_, id, k) > place) --k;
    std::int64_t const extent = g_.info(g_.input(id, k)).dims.dim[axis];
    return of(g_.input(id, k), iteration, (outer * extent + place - tx::detail::first_along(g_, id, k)) * inner + index % inner);
  }
  element_number of_block_made_of(tx::node const& n, int iteration, std::int64_t index) const {
    for (int k = 0; k < n.inputs; ++k) {
      std::int64_t const first = g_.numbers[tx::first_number(n.at) + k];
      if (index >= first && index < first + g_.info(g_.input(n, k)).count()) return of(g_.input(n, k), iteration, index - first);
    }
    return zero_byte;  // between its operands
  }

  tx::graph const& g_;
  tx::vec<char> const& moved_;
  std::vector<element_number> first_;   // of each node
  std::vector<element_number> blocks_;  // of each flat block
};
