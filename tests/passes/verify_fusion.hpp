// What every fusion and order must satisfy, element by element, found without the rules that fusing goes by.
#pragma once

#include "verify_storage.hpp"

#include <tx/passes/bands.hpp>
#include <tx/passes/fuse.hpp>
#include <tx/passes/rewrite.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

class fusion_verifier {
 public:
  fusion_verifier(tx::graph const& g, tx::passes::fusion const& f) : g_(g), f_(f) {}

  // Throws std::runtime_error with what is wrong.
  void run() const {
    for (int i = 0; i < f_.groups.size(); ++i) {
      tx::passes::group const& gr = f_.groups[i];
      for (int at = 0; at < gr.nodes.size(); ++at) {
        int const id = gr.nodes[at];
        if (f_.group_of[id] != i || g_[id].region != gr.region) fail("a node lies in another group or region", id);
        for (int k = 0; k < g_[id].inputs; ++k) check_read(i, at, g_.input(id, k));
        check_overwrite(i, id);
      }
    }
  }

 private:
  using level = tx::passes::level;
  using place_kind = tx::passes::place_kind;

  [[noreturn]] void fail(std::string const& what, int id) const {
    throw std::runtime_error(what + ": node " + std::to_string(id) + ", " + g_[id].op->name);
  }

  int seen_from(int region, int group) const {
    while (group >= 0 && f_.groups[group].region != region) {
      int const r = f_.groups[group].region;
      group = r == 0 ? -1 : f_.group_of[g_.regions[r].owner];
    }
    return group;
  }

  // Where element k of a value (row-major) is stored.
  static std::int64_t address(tx::shape const& dims, tx::strided const& at, std::int64_t k) {
    std::int64_t where = most_of(at.offset);
    for (int a = dims.rank - 1; a >= 0; --a) {
      where += k % dims.dim[a] * most_of(at.stride[a]);
      k /= dims.dim[a];
    }
    return where;
  }

  // How many elements a node of a fusible group computes or reads of its operand: all of its space, or one per row.
  std::int64_t read_count(tx::passes::group const& gr, int operand) const {
    std::int64_t const count = g_.info(operand).count();
    return count == gr.rows * gr.cols || count == gr.rows ? count : -1;
  }

  void check_read(int group, int at, int operand) const {
    tx::passes::group const& gr = f_.groups[group];
    int const id = gr.nodes[at];
    int base = f_.where.of[operand].base;
    if (f_.group_of[base] == group && g_.has_results(base)) return;  // a result, of its op
    if (f_.group_of[base] == group && g_[base].op != &tx::repeat_info) {
      if (!gr.fusible) fail("a kernel of its own reads itself", id);
      bool before = false;
      for (int k = 0; k < at; ++k) before = before || gr.nodes[k] == base;
      if (!before) fail("an operand of the same kernel comes later", id);
      tx::passes::location const& v = f_.where.of[operand];
      if (!std::ranges::equal(v.step, f_.where.of[base].step)) fail("an operand of the same kernel moves with the iteration", id);
      std::int64_t const count = read_count(gr, operand);
      if (count < 0) fail("an operand of the same kernel has another space", id);
      std::int64_t const base_count = g_.info(base).count();
      bool const base_by_row = f_.levels[base] == level::row;
      if (f_.levels[base] == level::col) fail("a sum over rows is read in the kernel that makes it", id);
      for (std::int64_t k = 0; k < count; ++k) {
        std::int64_t const mine = base_by_row && count == gr.rows * gr.cols && base_count == gr.rows && gr.cols != 1 ? k / gr.cols : k;
        if (mine >= base_count || address(g_.info(operand).dims, v.at, k) != address(g_.info(base).dims, f_.where.of[base].at, mine))
          fail("an operand of the same kernel is of another row or column", id);
      }
      return;
    }
    if (g_[base].op == &tx::argument_info && seen_from(g_[base].region, group) < 0) base = g_.regions[g_[base].region].owner;
    if (g_[base].op == &tx::result_info) base = g_.input(base, 0);
    int const maker = f_.group_of[base];
    if (maker < 0) return;
    int const reader = seen_from(f_.groups[maker].region, group);
    if (reader >= 0 && reader < maker) fail("an operand is computed after its reader", id);
  }

  // Leaves of the flat blocks share elements where their ranges overlap.
  bool shares_storage(int a, int b) const {
    if (a == b) return true;
    if (!tx::passes::in_block(g_, a) || !tx::passes::in_block(g_, b)) return false;
    auto const block = [&](int id) { return g_[id].op == &tx::block_info ? tx::block_number(g_[id].at) : 0; };
    return block(a) == block(b) && first_of(a) < first_of(b) + g_.info(b).count() && first_of(b) < first_of(a) + g_.info(a).count();
  }
  // The first element of its block that a leaf shows.
  std::int64_t first_of(int leaf) const { return g_[leaf].op == &tx::block_info ? tx::block_first(g_[leaf].at) : tx::parameter_first(g_[leaf].at); }

  // Nobody reads a carry or a leaf after it was overwritten, and its own kernel reads each element before writing that.
  void check_overwrite(int group, int id) const {
    if (g_.info(id).count() == 0) return;
    int stored = id;  // or what a loop makes of it slice by slice, which may be a slice of another one
    while (f_.where.places[stored].kind == place_kind::slice) stored = f_.where.places[stored].target;
    tx::passes::placement const p = f_.where.places[stored];
    bool const by_slices = stored != id;
    if (p.kind != place_kind::replace && (p.kind != place_kind::carry || g_[stored].region != g_[p.target].region)) return;
    int const outermost = p.kind == place_kind::replace ? 0 : g_[stored].region;
    for (int i = 0; i < f_.groups.size(); ++i)
      for (int reader : f_.groups[i].nodes) {
        if (g_[reader].op->kind == tx::op_kind::region) continue;
        for (int k = 0; k < g_[reader].inputs; ++k) {
          int const operand = g_.input(reader, k);
          tx::passes::location const& v = f_.where.of[operand];
          if (!shares_storage(v.base, p.target)) continue;
          int region = f_.groups[group].region;
          // After its loop a carry is read as its last value; a leaf has none but the new one.
          while (region != outermost && seen_from(region, i) < 0) region = g_.regions[region].parent;
          int const mine = seen_from(region, group);
          int const seen = seen_from(region, i);
          if (seen > mine) fail("a value is read after it was overwritten", reader);
          if (seen != group) continue;
          if (by_slices != tx::passes::moves(v)) fail("a kernel overwrites another slice than it reads", reader);
          // A kernel that reduces rows goes over its columns again; a product reads whole rows and columns.
          bool const again = (reader != id && f_.groups[group].reduces_rows) || (reader == f_.groups[group].head && !(g_[reader].op->over_first && k == 0));
          if (again || g_.info(operand).count() != g_.info(id).count()) fail("a kernel overwrites what it reads in another order", reader);
          std::int64_t const apart = v.base == p.target ? 0 : first_of(v.base) - first_of(p.target);
          for (std::int64_t e = 0; e < g_.info(operand).count(); ++e)
            if (apart + address(g_.info(operand).dims, v.at, e) != address(g_.info(id).dims, tx::passes::dense(g_.info(id).dims), e))
              fail("a kernel overwrites what it reads in another order", reader);
        }
      }
  }

  tx::graph const& g_;
  tx::passes::fusion const& f_;
};

// A recorded graph through the compiler's passes: each step of grouping, then the reads and writes of every variant of its program.
inline void verify_fusion_of(tx::graph const& recorded) {
  tx::passes::stored_graph const stored = tx::passes::assign_storage(tx::passes::simplify(recorded));
  tx::graph const& g = stored.nodes;
  for (bool const enabled : {false, true}) {
    tx::passes::fusion const f = tx::passes::fuse(g, stored.where, tx::cpu_target.kernel, enabled);
    fusion_verifier(g, f).run();
    tx::passes::fusion const reordered = tx::passes::reorder(g, f);
    fusion_verifier(g, reordered).run();
    if (!enabled) continue;
    tx::passes::fusion const in_bands = tx::passes::bands(g, reordered, 64);
    fusion_verifier(g, in_bands).run();
  }
  for (tx::compile_options const& options : {tx::compile_options{}, {.band_bytes = 64}, {.reorder = false}, {.fuse = false}, {.fuse = false, .reorder = false}})
    verified(recorded, options);
}
