#include "planned.hpp"

#include "../passes/verify_fusion.hpp"
#include "../passes/walked_program.hpp"
#include "guard.hpp"
#include "rules.hpp"

#include <tx/exec/compile.hpp>

namespace drawn {

namespace {

using tx::exec::lowered;

struct variant {
  char const* name;
  tx::compile_options options;
};
std::vector<variant> const& variants() {
  static std::vector<variant> const all{{"fused", {}},
                                        {"fused, in recorded order", {.schedule = false}},
                                        {"fused, in bands of a matrix", {.band_bytes = 16}},
                                        {"fused, in bands of a few", {.band_bytes = 200}},
                                        {"a kernel for each op", {.fuse = false}},
                                        {"as recorded", {.fuse = false, .schedule = false}}};
  return all;
}

// A run's memory: every byte of the arena is part of a NaN before.
outcome walked(lowered const& l, tx::exec::inspection const& seen, recorded const& r, int rows) {
  std::vector<std::byte> arena(static_cast<std::size_t>(l.memory.arena), std::byte{0xff});
  std::vector<std::vector<std::byte>> blocks, inputs;
  std::vector<std::int64_t> sizes(tx::exec::bases, 0);
  tx::exec::frame f{};
  f.key = run_key;
  f.step = run_step;
  f.extent[1] = rows;
  std::vector<float> scalars(std::begin(run_scalars), std::end(run_scalars));
  auto const lend = [&](int base, std::byte* first, std::size_t bytes) {
    f.base[base] = first;
    sizes[static_cast<std::size_t>(base)] = static_cast<std::int64_t>(bytes);
  };
  auto const put = [](std::vector<std::byte>& to, dtype type, int k, double x) {
    tx::exec::detail::with_element(type, [&]<class T>(T) {
      T const held = tx::exec::element_of<T>(x);
      std::memcpy(to.data() + static_cast<std::size_t>(k) * sizeof held, &held, sizeof held);
    });
  };
  lend(tx::exec::base_arena, arena.data(), arena.size());
  lend(tx::exec::base_scalars, reinterpret_cast<std::byte*>(scalars.data()), scalars.size() * sizeof(float));
  for (std::size_t b = 0; b < r.sizes.size(); ++b) {
    blocks.emplace_back(static_cast<std::size_t>(r.sizes[b] * tx::size_of(r.type)));
    for (int k = 0; k < r.sizes[b]; ++k) put(blocks[b], r.type, k, block_element(static_cast<int>(b), k, r.type));
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) lend(tx::exec::base_block + static_cast<int>(b), blocks[b].data(), blocks[b].size());
  for (std::size_t k = 0; k < r.inputs.size(); ++k) {
    leaf_input const& in = r.inputs[k];
    std::int64_t const count = in.info.dims.tag ? in.info.count() / in.info.dims.tag.max * rows : in.info.count();
    inputs.emplace_back(static_cast<std::size_t>(count * tx::size_of(in.info.type)));
    for (int e = 0; e < static_cast<int>(count); ++e) put(inputs[k], in.info.type, e, element(100 + static_cast<int>(k), e, in.info.type, in.limit));
  }
  for (std::size_t k = 0; k < inputs.size() && k < tx::exec::max_inputs; ++k) lend(tx::exec::base_input + static_cast<int>(k), inputs[k].data(), inputs[k].size());

  std::vector<std::int64_t> scratch;
  for (int s : seen.scratch_of_call) scratch.push_back(s < 0 ? 0 : seen.buffers[s].bytes);
  memory_guard guard(sizes, scratch, l.calls);
  walked_program program(l);
  program.watch([&](tx::exec::frame const& now, tx::exec::called_kernel const& k) { guard.before(now, k, k.c); });
  program.run(f);

  outcome out;
  for (tx::exec::result_ref const& result : l.results) {
    std::int64_t const count = result.info.dims.tag ? result.info.count() / result.info.dims.tag.max * rows : result.info.count();
    guard.check_result(result.offset, count * tx::size_of(result.info.type));
    values v;
    for (std::int64_t i = 0; i < count; ++i) v.push_back(tx::exec::element_at(result.info.type, arena.data() + result.offset, i));
    out.results.push_back(std::move(v));
  }
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    values v;
    for (int k = 0; k < r.sizes[b]; ++k) v.push_back(tx::exec::element_at(r.type, blocks[b].data(), k));
    out.blocks.push_back(std::move(v));
  }
  return out;
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

void check_plans(recorded const& r, std::vector<expectation> const& runs, totals& sums) {
  graph const g = tx::exec::optimise(r.g);
  for (int i = 0; i < g.size(); ++i) ++sums.planned[g[i].op->name];
  outcome exact;  // of as many rows as are planned for: what kernels compute must be that to the last bit
  for (expectation const& run : runs)
    if (run.rows == r.rows.most) {
      exact = evaluated(g, r, plain_run());
      fail_if(run.wrong(exact), "the optimised graph");
    }
  for (variant const& v : variants()) {
    tx::exec::inspection seen{};
    lowered const l = tx::exec::plan(g, v.options, &seen);
    fusion_verifier(seen.nodes, seen.fused).run();
    storage_verifier(l, seen).run();
    bool const banded = seen.fused.bands.size() > 0;
    sums.banded += banded;
    if (&v == &variants().front()) {
      sums.kernels += l.calls.size();
      sums.arena += l.memory.arena;
    }
    if (v.options.band_bytes < 1000 && !banded) continue;
    for (expectation const& run : runs) {
      ++sums.walks;
      std::string where = v.name;
      if (r.rows.most > 0 && r.rows.fixed < 0) where += ", " + std::to_string(run.rows) + " rows of " + std::to_string(r.rows.most);
      try {
        outcome const got = walked(l, seen, r, run.rows);
        fail_if(run.rows == r.rows.most ? difference(got, exact) : run.wrong(got), where);
      } catch (std::logic_error const& e) {
        throw std::runtime_error(where + ": " + e.what());
      }
    }
  }
}

}  // namespace drawn
