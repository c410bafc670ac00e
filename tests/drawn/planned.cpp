#include "planned.hpp"

#include "../passes/verify_fusion.hpp"
#include "../passes/walked_program.hpp"
#include "../small_kernels.hpp"
#include "guard.hpp"
#include "memory.hpp"
#include "rules.hpp"

#include <tx/backends/cuda/target.hpp>
#include <tx/plan/compile.hpp>

namespace drawn {

namespace {

using tx::exec::lowered;

// The CPU's, but that attention is walked by its rule, which needs no scratch: beside that of its kernels what other calls need would be lost.
constexpr tx::target walked_cpu = [] {
  tx::target to = tx::cpu_target;
  to.whole_scratch = nullptr;
  return to;
}();

struct variant {
  char const* name;
  tx::compile_options options;
  tx::target const& to = walked_cpu;
};
// A device with a library that takes most products.
constexpr tx::target with_library = [] {
  tx::target to = tx::cuda_target;
  to.kernel.ends_product = [](tx::passes::product_shape const& p) { return (p.rows + p.cols + p.depth) % 3 != 0; };
  to.starts_together = [](tx::exec::kernel_sig const&, tx::exec::row_buffers const&, tx::exec::call const&) { return 3; };
  return to;
}();

std::vector<variant> const& variants() {
  static std::vector<variant> const all{{"fused", {}},
                                        {"fused, in recorded order", {.reorder = false}},
                                        {"fused, in bands of a matrix", {.band_bytes = 16}},
                                        {"fused, in bands of a few", {.band_bytes = 200}},
                                        {"a kernel for each op", {.fuse = false}},
                                        {"as recorded", {.fuse = false, .reorder = false}},
                                        {"for a device", {}, with_library},
                                        {"in small kernels", {}, small_kernels}};
  return all;
}

outcome walked(lowered const& l, tx::exec::inspection const& seen, recorded const& r, int rows, totals& sums) {
  run_memory memory(r, l.memory.arena, rows);
  std::vector<std::int64_t> scratch;
  for (int s : seen.scratch_of_call) scratch.push_back(s < 0 ? 0 : seen.buffers[s].bytes);
  memory_guard guard(memory.sizes, scratch, l.calls);
  walked_program program(l);
  program.watch([&](tx::exec::frame const& now, tx::exec::called_kernel const& k) {
    guard.before(now, k, k.planned);
    ++sums.kernels;
  });
  program.run(memory.f);
  for (tx::exec::result_ref const& result : l.results) guard.check_result(result.offset, memory.count(result.info) * tx::size_of(result.info.type));
  return memory.told(l.results);
}

std::string first_difference(std::vector<values> const& got, std::vector<values> const& wanted, char const* of) {
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    if (k >= got.size() || got[k].size() != wanted[k].size()) return std::string(of) + ' ' + std::to_string(k) + " has another number of elements";
    for (std::size_t i = 0; i < wanted[k].size(); ++i)
      if (!(got[k][i] == wanted[k][i] || (std::isnan(got[k][i]) && std::isnan(wanted[k][i]))))
        return std::string(of) + ' ' + std::to_string(k) + ", element " + std::to_string(i) + ": " + std::to_string(got[k][i]) + ", not " + std::to_string(wanted[k][i]);
  }
  return "";
}
std::string difference(outcome const& got, outcome const& wanted) {
  std::string const results = first_difference(got.results, wanted.results, "result");
  return results.empty() ? first_difference(got.blocks, wanted.blocks, "block") : results;
}

void fail_if(std::string const& wrong, std::string const& where) {
  if (!wrong.empty()) throw std::runtime_error(where + ": " + wrong);
}

}  // namespace

// A target that runs all attention by kernels, as the CPU's does where scores are long.
constexpr tx::target attends_whole = [] {
  tx::target to = tx::cpu_target;
  to.runs_attention = [](tx::attention_shape const&) { return true; };
  return to;
}();

// And one for which parameters are rounded before the loops that read them.
constexpr tx::target rounds_ahead = [] {
  tx::target to = tx::cpu_target;
  to.rounds_ahead = true;
  return to;
}();
// And products of one value lie side by side.
constexpr tx::target makes_neighbours = [] {
  tx::target to = rounds_ahead;
  to.makes_neighbours = true;
  return to;
}();
// And one that multiplies all of E4M3 that it is given.
constexpr tx::target multiplies_e4m3 = [] {
  tx::target to = rounds_ahead;
  to.multiplies_e4m3 = [](tx::passes::product_shape const&) { return true; };
  return to;
}();
static int products_of_e4m3(graph const& g) {
  int products = 0;
  for (int i = 0; i < g.size(); ++i) products += tx::passes::detail::is_product_of_e4m3(g, g[i]);
  return products;
}
static int halves_handed_in(graph const& g) {
  int halves = 0;
  for (int i = 0; i < g.size(); ++i) halves += g[i].op == &tx::argument_info && tx::is_half(g.info(i).type);
  return halves;
}

static void check_plans_of(graph const& g, recorded const& r, std::vector<expectation> const& runs, totals& sums) {
  for (int i = 0; i < g.size(); ++i) ++sums.planned[g[i].op->name];
  int const stored = tx::passes::assign_storage(g).nodes.size();
  outcome exact;  // of as many rows as are planned for: what kernels compute must be that to the last bit
  for (expectation const& run : runs)
    if (run.rows == r.rows.most) {
      exact = evaluated(g, r, plain_run());
      fail_if(run.wrong(exact), "the optimised graph");
    }
  for (variant const& v : variants()) {
    tx::exec::inspection seen{};
    lowered const l = tx::exec::plan(g, v.to, v.options, &seen);
    fusion_verifier(seen.nodes, seen.fused).run();
    storage_verifier(l, seen).run();
    int remade = 0;
    for (int id = stored; id < seen.nodes.size(); ++id) remade += seen.nodes[id].op->kind != tx::op_kind::view;
    if (remade > 0 && !(v.to.remakes && v.options.fuse)) throw std::runtime_error(std::string(v.name) + ": values that are made again");
    sums.remade += remade;
    bool const banded = seen.fused.bands.size() > 0;
    sums.banded += banded;
    for (char handed : seen.fused.handed_on) sums.handed += handed;
    if (!v.options.fuse)
      for (tx::passes::group const& group : seen.fused.groups)
        if (group.nodes.size() != 1 && !seen.nodes.has_results(group.nodes[0])) throw std::runtime_error(std::string(v.name) + ": a kernel of several ops");
    for (tx::passes::group const& group : seen.fused.groups) {
      if (!group.fusible || group.nodes.size() == 1) continue;
      if (group.nodes.size() > v.to.kernel.nodes || group.nodes.size() + group.reads.size() > v.to.kernel.values)
        throw std::runtime_error(std::string(v.name) + ": a kernel of more than the target allows");
      if (group.ends) {
        auto const is = [&](int k, tx::op_info const& op) { return seen.nodes[group.nodes[k]].op == &op; };
        int const count = group.nodes.size();
        bool const of_e4m3 = seen.nodes.info(seen.nodes.input(group.head, 0)).type == tx::dtype::e4m3;
        if (of_e4m3) {
          bool const scales = count < 2 || (is(1, tx::mul_info) && (count == 2 || is(2, tx::mul_info)));
          bool const ends = count <= 3 || (count == 4 && is(3, tx::cast_info)) || (count == 6 && is(3, tx::cast_info) && is(4, tx::add_info) && is(5, tx::cast_info));
          if (!scales || !ends) throw std::runtime_error(std::string(v.name) + ": more than an end behind a product of E4M3");
          ++sums.scaled[count];
          continue;
        }
        bool const adds_row = count == 4 && is(1, tx::cast_info) && is(2, tx::add_info) && is(3, tx::cast_info), stores_sum = count == 3 && is(1, tx::add_info) && is(2, tx::copy_info);
        int const first = group.nodes[adds_row ? 2 : 1];
        bool reads_head = false;
        for (int k = 0; k < seen.nodes[first].inputs; ++k) reads_head = reads_head || seen.fused.where.of[seen.nodes.input(first, k)].base == group.head;
        if ((count > 2 && !adds_row && !stores_sum) || !reads_head) throw std::runtime_error(std::string(v.name) + ": more than an end behind a product");
      }
      if (group.head >= 0 && !v.to.kernel.epilogues) throw std::runtime_error(std::string(v.name) + ": a product with an epilogue");
    }
    sums.arena += l.memory.arena;
    if (v.options.band_bytes >= 0 && !banded) continue;
    for (expectation const& run : runs) {
      ++sums.walks;
      std::string where = v.name;
      if (r.rows.most > 0 && r.rows.fixed < 0) where += ", " + std::to_string(run.rows) + " rows of " + std::to_string(r.rows.most);
      try {
        outcome const got = walked(l, seen, r, run.rows, sums);
        fail_if(run.rows == r.rows.most ? difference(got, exact) : run.wrong(got), where);
      } catch (std::logic_error const& e) {
        throw std::runtime_error(where + ": " + e.what());
      }
    }
  }
}

void check_plans(recorded const& r, std::vector<expectation> const& runs, totals& sums) {
  graph const plain = tx::exec::optimise(r.g, tx::cpu_target);
  check_plans_of(plain, r, runs, sums);
  bool attends = false;
  for (int i = 0; i < r.g.size(); ++i) attends = attends || r.g[i].op == &tx::attention_info;
  if (attends) check_plans_of(tx::exec::optimise(r.g, attends_whole), r, runs, sums);
  if (products_of_e4m3(r.g) > 0) check_plans_of(tx::exec::optimise(r.g, multiplies_e4m3), r, runs, sums);
  graph const beside = tx::exec::optimise(r.g, makes_neighbours);
  bool joins = false;
  for (int i = 0; i < beside.size(); ++i) joins = joins || beside[i].op == &tx::join_info;
  sums.joined += joins;
  if (joins) check_plans_of(beside, r, runs, sums);
  graph const ahead = tx::exec::optimise(r.g, rounds_ahead);
  if (halves_handed_in(ahead) == halves_handed_in(plain)) return;  // no loop rounds what it sees of a parameter
  ++sums.hoisted;
  check_plans_of(ahead, r, runs, sums);
}

}  // namespace drawn
