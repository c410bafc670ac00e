// Usage: mpirun -n 2 bench_zero [--stage N] [--steps N] [--rounds N] [--threads N]
// bench_ranks' step on two ranks that divide nothing (stage 0), states, gradients too and parameters too: seconds of a step and bytes as planned, of each stage, in turns.
// With --stage that one alone, beside the most that the process has held, less what it held before the step was there.
#include "batch.hpp"
#include "step.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/net/mpi.hpp>
#include <tx/dist/net/ranks.hpp>
#include <tx/run/executor.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace {

constexpr int rank_count = 2;
using communicator = tx::dist::ranks<tx::dist::mpi>;
template <int Stage>
struct of_stage {
  using step = step_with<tx::data_parallel<rank_count>, tx::zero<Stage>>;
};
template <>
struct of_stage<0> {
  using step = step_with<tx::data_parallel<rank_count>>;
};

struct settings {
  int stage = -1, steps = 4, rounds = 3, threads = 1;
};

template <int Stage>
class timed_stage {
 public:
  using step = typename of_stage<Stage>::step;
  timed_stage(communicator& all, settings const& s) : all_(all), settings_(s), before_(held("VmRSS")), run_(tx::seed(1), all, {.threads = s.threads}) { round(); }

  void round() {
    all_.barrier();
    auto const begin = std::chrono::steady_clock::now();
    for (int s = 0; s < settings_.steps; ++s) {
      batch const b(all_.rank(), s);
      run_(b.ids, b.labels);
    }
    all_.barrier();
    seconds_.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / settings_.steps);
  }
  void tell() {
    seconds_.erase(seconds_.begin());  // the first warms up
    std::ranges::sort(seconds_);
    if (all_.rank() != 0) return;
    auto const m = step::memory;
    std::printf("{\"stage\": %d, \"ranks\": %d, \"threads\": %d, \"seconds\": %.4f, \"parameters\": %lld, \"states\": %lld, \"arena\": %lld, \"planned_peak\": %lld, \"formula\": %lld", Stage, rank_count, settings_.threads, seconds_[seconds_.size() / 2],
                static_cast<long long>(m.parameters), static_cast<long long>(m.optimizer), static_cast<long long>(m.arena), static_cast<long long>(m.peak),
                static_cast<long long>(tx::layout<typename step::model>::size * (Stage == 0 ? 12 : Stage < 3 ? 4 + 8 / rank_count : 12 / rank_count)));
    if (settings_.stage >= 0) std::printf(", \"held\": %lld", held("VmHWM") - before_);
    std::printf("}\n");
  }

 private:
  communicator& all_;
  settings const& settings_;
  long long before_;
  tx::executor<step, tx::distributed<tx::cpu, communicator>> run_;
  std::vector<double> seconds_;
};

template <int... Stages>
void run(communicator& all, settings const& s, std::integer_sequence<int, Stages...>) {
  std::tuple<std::optional<timed_stage<Stages>>...> stages;
  auto const each = [&](auto const& f) { ((s.stage < 0 || s.stage == Stages ? f(std::get<Stages>(stages)) : void()), ...); };
  each([&](auto& stage) { stage.emplace(all, s); });
  for (int r = 0; r < s.rounds; ++r) each([](auto& stage) { stage->round(); });
  each([](auto& stage) { stage->tell(); });
}

}  // namespace

void TX_PAGE(std::string const&, std::vector<double> const&) {}

int main(int argc, char** argv) {
  settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const name = argv[i];
    int const value = std::atoi(argv[i + 1]);
    if (name == "--stage") s.stage = value;
    else if (name == "--steps") s.steps = value;
    else if (name == "--rounds") s.rounds = value;
    else if (name == "--threads") s.threads = value;
    else return std::fprintf(stderr, "bench_zero: unknown option %s\n", argv[i]), 1;
  }
  tx::dist::mpi connections;
  if (connections.size() != rank_count) return std::fprintf(stderr, "bench_zero: it is for %d ranks: mpirun -n %d bench_zero\n", rank_count, rank_count), 1;
  communicator all(connections);
  run(all, s, std::make_integer_sequence<int, 4>{});
}
