// Ranks divide the blocks of networks that nobody wrote, and the products of each stage perhaps: the plan of each rank, walked call by call in f64 over memory of NaN, gives what the graph of
// one rank does.
#include "../../interpreter/evaluator.hpp"
#include "../../interpreter/passes.hpp"
#include "../../passes/walked_program.hpp"
#include "../../small_kernels.hpp"
#include "../drawn_blocks.hpp"
#include "../within.hpp"

#include <tx/backends/cpu/target.hpp>
#include <tx/dist/local.hpp>
#include <tx/dist/pipeline.hpp>
#include <tx/dist/used_portions.hpp>
#include <tx/ops/concat.hpp>
#include <tx/ops/embedding.hpp>
#include <tx/passes/sink.hpp>
#include <tx/plan/compile.hpp>
#include <tx/run/communicators.hpp>
#include <tx/run/kept_portions.hpp>
#include <tx/train/accumulate.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>

namespace {

using namespace tx;
using namespace drawn_blocks;

knows_whole<&concat_info> const concat_rule;
knows_whole<&embedding_info> const embedding_rule;
knows_whole<&scatter_rows_info> const scatter_rule;

// This thread's rank, whose collectives the walker runs.
thread_local exec::communicators<dist::local>* here = nullptr;
struct knows_ranks {
  knows_ranks() {
    for (op_info const* op : {&sum_over_ranks_info, &all_reduce_info}) teach<rules::all_reduce>(*op);
    teach<rules::own_rows>(own_rows_info);
    teach<rules::all_gather>(all_gather_info);
    teach<rules::swap_ranks>(swap_ranks_info);
  }

 private:
  template <class Rule>
  static void teach(op_info const& op) {
    whole_rules()[&op] = [](node const& n, whole_results const& out, std::vector<whole_operand<double const>> const& in) { Rule::run(here->across(detail::across_of(n.at)), n.at, out[0], in[0]); };
  }
};
knows_ranks const ranks_are_known;

// Results, and gradients by each entry of the layout, those of all blocks.
struct told {
  std::vector<values> results;
  std::vector<values> gradients;
};

template <class Model>
told by_one(graph g, int parts) {
  vec<int> leaves{};
  for (int id = 0; id < g.size(); ++id)
    if (g[id].op == &parameter_info && layout<Model>::trains(layout<Model>::entries[parameter_entry(g[id].at)])) leaves.push_back(id);
  vec<int> const by = at_run_time::gradients(g, g.outputs[0].value, leaves);
  for (int k = 0; k < leaves.size(); ++k)
    if (by[k] >= 0) g.outputs.push_back({by[k], output_kind::gradient, leaves[k]});
  graph const all = detail::averaged_over_parts(g, parts);
  at_run_time::verified(all);
  evaluator const run(all, [&](node const& n) {
    values v;
    auto const x = numbers_given(parts);
    auto const ids = words_given(parts);
    for (std::int64_t i = 0; i < n.info.count(); ++i) {
      if (n.op == &input_info) v.push_back(input_number(n.at) == 0 ? x[static_cast<std::size_t>(i)] : ids[static_cast<std::size_t>(i)]);
      else v.push_back(value_of(parameter_entry(n.at), parameter_first(n.at) - layout<Model>::entries[parameter_entry(n.at)].offset + i));
    }
    return v;
  }, {.random = true, .key = philox_key::from(5), .step = 2});
  told out;
  out.gradients.resize(static_cast<std::size_t>(layout<Model>::entries.size()));
  for (output const& o : all.outputs) {
    if (o.kind == output_kind::result) {
      out.results.push_back(run[o.value]);
      continue;
    }
    node const& leaf = all[o.target];
    layout_entry const& e = layout<Model>::entries[parameter_entry(leaf.at)];
    values& to = out.gradients[static_cast<std::size_t>(parameter_entry(leaf.at))];
    to.resize(static_cast<std::size_t>(e.info.count()));
    for (std::size_t i = 0; i < run[o.value].size(); ++i) to[static_cast<std::size_t>(parameter_first(leaf.at) - e.offset) + i] += run[o.value][i];
  }
  return out;
}

// How ranks divide a network: so many stages, each of so many ranks, and which axis of which parameter.
template <class Model>
struct division {
  static constexpr int entries = layout<Model>::entries.size();

  int stages, products;
  signed char blocks[entries], axes[entries];

  // g: what is divided; becomes what one rank of a stage computes of all blocks.
  division(graph& g, int of_stages, int of_products) : stages(of_stages), products(of_products) {
    dist::divide_products(g, products, true);
    dist::used_portions<Model> const used(g);
    for (int k = 0; k < entries; ++k) axes[k] = static_cast<signed char>(products > 1 ? used.axis_of(k) : portioning::none), blocks[k] = portioning::none;
    dist::use_portions(g, detail::gradient_facts<Model>(state_kinds(0).divided_by(portioning{}.and_by({products, across::products}, axes, entries), 1)));
    for (dist::detail::block_parameter const& p : dist::detail::stages<Model>(g, stages).parameters)
      if (p.divided) blocks[p.entry] = portioning::blocks;
  }
  portioning how() const { return portioning{}.and_by({stages, across::stages}, blocks, entries).and_by({products, across::products}, axes, entries); }
  bool divides_any_axis() const { return std::any_of(axes, axes + entries, [](int axis) { return axis >= 0; }); }
};

// A plan and what its outputs are: gradients are results, of which a rank has what it keeps.
struct planned {
  exec::lowered plan{};
  vec<int> entry{};  // of each result; -1: it is one
};
template <class Model>
planned pipelined_plan(graph const& one, division<Model> const& of, int parts, target const& to, compile_options const& options) {
  planned p;
  detail::gradient_facts<Model> const facts(state_kinds(0).divided_by(of.how(), portioning::most));
  graph g = dist::pipelined<Model>(one, of.stages, parts, facts);
  passes::sink(g);  // into the loops over blocks, as steps do
  for (int k = 0; k < g.outputs.size(); ++k) {
    bool const gradient = g.outputs[k].kind == output_kind::gradient;
    p.entry.push_back(gradient ? parameter_entry(g[g.outputs[k].target].at) : -1);
    g.outputs[k] = {g.outputs[k].value, output_kind::result, -1};
  }
  dist::keep_in_portions(g, facts);
  p.plan = exec::compile(g, to, options);
  return p;
}

template <class Model>
told walked_by(dist::local& rank, planned const& p, int parts, division<Model> const& of) {
  rank_grid const grid{rank.size(), of.products, of.stages};
  exec::communicators<dist::local> ranks(rank, grid);
  here = &ranks;
  exec::portion_owner const whose{grid, rank.rank()};
  auto const pieces = state_pieces<Model>(of.how());
  exec::lowered const& l = p.plan;
  std::vector<double> arena(static_cast<std::size_t>(l.memory.arena) / sizeof(double) + 16), block(static_cast<std::size_t>(layout<Model>::size)), scalars(64);
  std::memset(arena.data(), 0xff, arena.size() * sizeof(double));
  for (int k = 0; k < layout<Model>::entries.size(); ++k)
    exec::for_each_kept<Model>(pieces, whose, k, [&](std::int64_t kept_byte, std::int64_t first, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) block[static_cast<std::size_t>(kept_byte / 8 + i)] = value_of(k, first + i);
    });
  auto x = numbers_given(parts);
  auto ids = words_given(parts);
  exec::frame f{};
  f.key = philox_key::from(5);
  f.step = 2;
  f.stage = grid.stage_of(rank.rank());
  f.product = grid.product_of(rank.rank());
  f.base[exec::base_arena] = reinterpret_cast<std::byte*>(arena.data());
  f.base[exec::base_scalars] = reinterpret_cast<std::byte*>(scalars.data());
  f.base[exec::base_block] = reinterpret_cast<std::byte*>(block.data());
  f.base[exec::base_input] = reinterpret_cast<std::byte*>(x.data());
  f.base[exec::base_input + 1] = reinterpret_cast<std::byte*>(ids.data());
  walked_program(l).run(f);
  told out;
  out.gradients.resize(static_cast<std::size_t>(layout<Model>::entries.size()));
  for (int k = 0; k < l.results.size(); ++k) {
    exec::result_ref const& r = l.results[k];
    values v;
    for (std::int64_t i = 0; i < r.info.count(); ++i) v.push_back(element_at(r.info.type, f.base[0] + r.offset, i));
    if (p.entry[k] < 0) {
      out.results.push_back(v);
      continue;
    }
    state_piece const* const piece = detail::piece_of_entry<Model>(pieces, p.entry[k]);
    bool const divided = piece != nullptr && piece->divided();
    auto const across = [&](tx::across which) -> dist::local& { return ranks.across(which); };
    out.gradients[static_cast<std::size_t>(p.entry[k])] = divided ? exec::gathered_piece(across, exec::put_together::all, *piece, std::span<double const>(v)) : v;
  }
  return out;
}

// How far two are apart, of the largest number; what has no gradient has zeros.
double apart(std::vector<values> const& a, std::vector<values> const& b) {
  if (a.size() != b.size()) return 1;
  double most = 0, largest = 1e-300;
  for (std::size_t k = 0; k < a.size(); ++k)
    for (std::size_t i = 0; i < std::max(a[k].size(), b[k].size()); ++i) {
      if ((!a[k].empty() && i >= a[k].size()) || (!b[k].empty() && i >= b[k].size())) return 1;
      double const x = a[k].empty() ? 0 : a[k][i], y = b[k].empty() ? 0 : b[k][i];
      most = std::max(most, std::abs(x - y));
      largest = std::max(largest, std::abs(y));
      if (!(std::abs(x) < 1e300)) return 1;
    }
  return most / largest;
}

struct totals {
  int programs = 0;
  int with_products = 0;  // of which each stage divides some
  std::set<std::string> seen;
};
struct stages_of {
  int stages, products;
};

template <int Blocks>
void check_network(std::uint64_t seed, std::initializer_list<stages_of> all_ranks, totals& sums) {
  using model = bank<Blocks>;
  network<Blocks> const drawn(seed);
  int const parts = 1 + static_cast<int>(seed % 5);
  graph const one = at_run_time::simplified(drawn.g);
  told const wanted = by_one<model>(one, parts);
  struct variant {
    target const& to;
    compile_options options;
  };
  std::vector<variant> const variants{{cpu_target, {}}, {cpu_target, {.fuse = false}}, {cpu_target, {.reorder = false}}, {small_kernels, {}}};
  for (auto const [stages, products] : all_ranks) {
    variant const& v = variants[static_cast<std::size_t>(seed / 5 % variants.size())];
    int const ranks = stages * products;
    CAPTURE(seed, Blocks, stages, products, parts);
    graph own = one;
    std::unique_ptr<division<model>> of;
    planned p;
    try {
      of = std::make_unique<division<model>>(own, stages, products);
      p = pipelined_plan<model>(own, *of, parts, v.to, v.options);
    } catch (invalid const& e) {
      CHECK_THAT(e.what(), Catch::Contains("pipeline: the model repeats no block that has parameters"));
      continue;
    }
    std::vector<double> far(static_cast<std::size_t>(ranks), 1);
    std::string failed;
    within(std::chrono::seconds(60), [&] {
      dist::local_group group(ranks);
      try {
        group.run([&](dist::local& rank) {
          told const got = walked_by<model>(rank, p, parts, *of);
          far[static_cast<std::size_t>(rank.rank())] = std::max(apart(got.results, wanted.results), apart(got.gradients, wanted.gradients));
        });
      } catch (std::exception const& e) {
        failed = e.what();
      }
    });
    CHECK(failed == "");
    for (double const f : far) CHECK(f < 1e-11);
    ++sums.programs;
    sums.with_products += of->divides_any_axis();
  }
  sums.seen.insert(drawn.has.begin(), drawn.has.end());
}

}  // namespace

TEST_CASE("networks that nobody wrote give the same losses and gradients where ranks divide their blocks") {
  totals sums;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    check_network<6>(seed, {{2, 1}, {3, 1}, {2, 2}}, sums);
    check_network<4>(seed, {{2, 1}, {4, 1}, {2, 3}}, sums);
  }
  CHECK(sums.programs > 1500);
  CHECK(sums.with_products > 200);
  for (char const* const feature : {"a mask beside", "a parameter beside", "slices of a value", "slices of what is made of a parameter", "a block behind", "a tower beside", "parameters of two repeats", "a way around the blocks", "a second result", "two carries",
                                    "dropout", "a table of words", "words that are guessed", "a loop in a block", "what is frozen"}) {
    CAPTURE(feature);
    CHECK(sums.seen.contains(feature));
  }
}
