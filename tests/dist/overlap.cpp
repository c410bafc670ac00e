// Collectives that go on while ranks compute: the same bits, whatever lies between, and an error where a rank fails meanwhile.
#include "divided.hpp"

#include <tx/dist/net/in_background.hpp>
#include <tx/dist/overlap.hpp>
#include <tx/train/options.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

using namespace divided;

namespace {

struct wide_block {
  param<tensor<float, 40, 40>, init::normal<1, 8>> first, second, third;
  constexpr auto operator()(tensor<float, 8, 40> const& x) const { return x + tanh(matmul(tanh(matmul(tanh(matmul(x, first)), second)), third)); }
};
struct wide_net {
  repeat<3, wide_block> body;
};
constexpr auto loss_of_wide = [](wide_net const& m, tensor<float, 8, 40> x) {
  auto const y = m.body(x);
  return mean(y * y);
};
template <class... Options>
using wide = train_step<wide_net, loss_of_wide, adamw, data_parallel<2>, Options...>;

// The bits of losses, parameters and states after four steps. Wrap: the communicator of a rank.
template <class Step, class Wrap>
auto trained_wide(Wrap const& wrap) {
  return on_ranks(2, [&](dist::local& rank) {
    return wrap(rank, [&](auto& all) {
      executor<Step, distributed<cpu, std::remove_reference_t<decltype(all)>>> run{seed(3), all, {.threads = 1}};
      std::vector<float> told;
      for (int s = 0; s < 4; ++s) {
        std::vector<float> x;
        for (int i = 0; i < 8 * 40; ++i) x.push_back(static_cast<float>((i * 7 + s + rank.rank() * 5) % 13) / 13.0f);
        told.push_back(run(x).loss);
      }
      for (int k = 0; k <= run.states(); ++k) {
        auto const all_of = run.read(k);
        told.insert(told.end(), all_of.begin(), all_of.end());
      }
      return told;
    });
  });
}
constexpr auto as_it_is = [](dist::local& rank, auto const& f) { return f(rank); };
constexpr auto behind_it = [](dist::local& rank, auto const& f) {
  dist::in_background all(rank);
  return f(all);
};

}  // namespace

TEST_CASE("steps whose collectives overlap train what others do, bit for bit") {
  auto const wanted = trained_wide<wide<>>(as_it_is);
  CHECK(wanted[0] == wanted[1]);
  CHECK(trained_wide<wide<overlapped>>(behind_it) == wanted);
  CHECK(trained_wide<wide<overlapped>>(as_it_is) == wanted);  // all is done where it is begun
  CHECK(trained_wide<wide<zero<3>, overlapped_from<1>>>(behind_it) == wanted);
  CHECK(trained_wide<wide<zero<3>, overlapped_from<1>>>(as_it_is) == wanted);
}

TEST_CASE("sums begin as soon as they can, and are awaited when nothing else is left in the block") {
  exec::inspection seen{};
  exec::lowered const l = wide<overlapped>::source::lower(cpu_target, &seen);
  graph const& g = seen.nodes;
  int begun = 0;
  for (int id = 0; id < g.size(); ++id) begun += g[id].op->begins;
  CHECK(begun == 3);  // three matrices of a block
  // Calls of the backward block in the order in which they run: all three are begun before the first is awaited.
  std::vector<std::string> order;
  for (exec::loop const& of : l.loops)
    for (int k = of.first; k < of.first + of.count; ++k)
      if (l.instructions[k].kind == exec::instruction_kind::call) {
        int const head = seen.fused.groups[seen.group_of_call[l.instructions[k].index]].head;
        if (head >= 0 && (g[head].op->begins || g[head].op->awaits)) order.push_back(g[head].op->begins ? "begun" : "awaited");
      }
  CHECK(order == std::vector<std::string>{"begun", "begun", "begun", "awaited", "awaited", "awaited"});
  CHECK(wide<overlapped>::memory.peak <= wide<>::memory.peak + 4 * 40 * 40 * std::int64_t{sizeof(float)});
}

TEST_CASE("parameters that ranks divide are gathered while the block before them is computed") {
  using ahead = wide<zero<3>, overlapped_from<1>>;
  exec::inspection seen{};
  exec::lowered const l = ahead::source::lower(cpu_target, &seen);
  graph const& g = seen.nodes;
  auto const kind_of = [&](exec::instruction const& i) -> std::string {
    if (i.kind == exec::instruction_kind::loop) return "loop";
    int const head = seen.fused.groups[seen.group_of_call[i.index]].head;
    if (head < 0) return "computes";
    op_info const& op = *g[head].op;
    if (op.fetches_next) return "fetches";
    if (op.awaits) return g[g.input(head, 0)].op->fetches_next ? "awaits" : "other";
    if (op.kind == op_kind::collective) return op.name == std::string_view("begun_all_gather") ? "gathers" : "other";
    return "computes";
  };
  int loops = 0, gathers = 0;
  for (int r = 0; r < g.regions.size(); ++r) {
    exec::loop const& of = l.loops[r];
    std::vector<std::string> order;
    for (int k = of.first; k < of.first + of.count; ++k) order.push_back(kind_of(l.instructions[k]));
    gathers += static_cast<int>(std::count(order.begin(), order.end(), "gathers"));
    if (of.iterations != 3) continue;
    ++loops;
    REQUIRE(order.size() > 9);
    // All three matrices are on their way before anything is computed, and awaited when nothing is left to compute but updates.
    CHECK(std::vector<std::string>(order.begin(), order.begin() + 3) == std::vector<std::string>(3, "fetches"));
    auto const first_wait = std::find(order.begin(), order.end(), "awaits");
    CHECK(std::count(order.begin(), first_wait, "computes") >= 3);
    CHECK(std::count(order.begin(), order.end(), "awaits") == 3);
  }
  CHECK(loops == 2);
  CHECK(gathers == 3);  // of the first block: the backward pass begins with what the forward one ends with
  constexpr std::int64_t block = 3 * 40 * 40 * std::int64_t{sizeof(float)};
  CHECK(ahead::memory.peak <= wide<zero<3>>::memory.peak + 4 * block);
}

TEST_CASE("what is begun runs in its order beside the rank, and what is finished is there") {
  std::vector<int> ran;
  std::atomic<bool> go{false};
  dist::single one;
  dist::in_background all(one);
  all.begin(1, [&](auto&) {
    while (!go) std::this_thread::yield();
    ran.push_back(1);
  });
  all.begin(2, [&](auto&) { ran.push_back(2); });
  go = true;
  all.finish(2);
  CHECK(ran == std::vector{1, 2});
  all.begin(1, [&](auto&) -> void { throw dist::rank_error("broken"); });
  CHECK_THROWS_WITH(all.finish(1), "broken");
  std::vector<float> x(3);
  CHECK_THROWS_WITH(all.all_reduce(std::span<float const>(x), std::span(x)), "broken");
}

TEST_CASE("a run that fails leaves nothing that goes on in its memory, and its ranks get an error") {
  struct fails_late : exec::observer {
    int calls = 0;
    void after_kernel(exec::frame const&, exec::call const&) override {
      if (++calls == 40) throw value_error("an observer of the test fails");
    }
  };
  std::vector<std::string> told(2);
  within(60s, [&] {
    dist::local_group group(2);
    try {
      group.run([&](dist::local& rank) {
        dist::in_background all(rank);
        executor<wide<overlapped>, distributed<cpu, dist::in_background<dist::local>>> run{seed(3), all, {.threads = 1}};
        fails_late watcher;
        if (rank.rank() == 1) run.observe(watcher);
        std::vector<float> const x(8 * 40, 0.5f);
        try {
          for (int s = 0; s < 50; ++s) run(x);
        } catch (std::exception const& e) {
          told[static_cast<std::size_t>(rank.rank())] = e.what();
        }
        if (rank.rank() == 1) run.end_observing(watcher);
      });
    } catch (std::exception const&) {
    }
  });
  CHECK_THAT(told[0], Catch::Contains("rank 1"));
  CHECK(told[1] == "an observer of the test fails");
}

TEST_CASE("a rank that ends while collectives are on their way ends them on all ranks") {
  std::string told;
  within(60s, [&] {
    dist::local_group group(2);
    try {
      group.run([&](dist::local& rank) {
        std::vector<float> x(100);
        dist::in_background all(rank);
        all.begin(1, [&](auto& those) { those.all_reduce(std::span<float const>(x), std::span(x)); });
        if (rank.rank() == 0) all.barrier();
        else throw value_error("a rank of the test fails");
      });
    } catch (std::exception const& e) {
      told = e.what();
    }
  });
  CHECK(told != "");
}
