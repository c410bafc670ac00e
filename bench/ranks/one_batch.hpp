// One batch by two ranks that divide the work of it, and by the first alone, in turns: seconds, bytes as planned, and the share of the time that ranks spend in collectives, waiting
// for each other included. With --only 1 or 2 ranks, beside the most that the process has held, less what it held before the step was there.
#pragma once

#include "batch.hpp"
#include "step.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/net/mpi.hpp>
#include <tx/dist/net/ranks.hpp>
#include <tx/run/executor.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

namespace {

using communicator = tx::dist::ranks<tx::dist::mpi>;
struct settings {
  int steps = 4, rounds = 3, threads = 1, only = 0;
};

template <class Step, class Backend>
class timed {
 public:
  template <class... Ranks>
  timed(settings const& s, Ranks&... ranks) : settings_(s), before_(held("VmRSS")), run_(tx::seed(1), ranks..., {.threads = s.threads}) {}

  void round() {
    auto const begin = std::chrono::steady_clock::now();
    for (int s = 0; s < settings_.steps; ++s) {
      batch const b(0, s, Step::parts);
      loss_ = static_cast<float>(run_(b.ids, b.labels).loss);
    }
    seconds_.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / settings_.steps);
  }
  double median() {
    if (seconds_.size() > 1) seconds_.erase(seconds_.begin());  // the first warms up
    std::ranges::sort(seconds_);
    return seconds_[seconds_.size() / 2];
  }
  void tell(int ranks, double in_collectives) {
    auto const m = Step::memory;
    std::printf("{\"ranks\": %d, \"threads\": %d, \"seconds\": %.4f, \"in_collectives\": %.4f, \"parameters\": %lld, \"states\": %lld, \"arena\": %lld, \"planned_peak\": %lld, \"loss\": %.6f", ranks, settings_.threads,
                median(), in_collectives, static_cast<long long>(m.parameters), static_cast<long long>(m.optimizer), static_cast<long long>(m.arena), static_cast<long long>(m.peak), static_cast<double>(loss_));
    if (settings_.only > 0) std::printf(", \"held\": %lld", held("VmHWM") - before_);
    std::printf("}\n");
  }

 private:
  settings const& settings_;
  long long before_;
  tx::executor<Step, Backend> run_;
  std::vector<double> seconds_;
  float loss_ = 0;
};

template <class Alone, class Together>
int run(char const* program, int argc, char** argv) {
  settings s;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const name = argv[i];
    int const value = std::atoi(argv[i + 1]);
    if (name == "--steps") s.steps = value;
    else if (name == "--rounds") s.rounds = value;
    else if (name == "--threads") s.threads = value;
    else if (name == "--only") s.only = value;
    else return std::fprintf(stderr, "%s: unknown option %s\n", program, argv[i]), 1;
  }
  tx::dist::mpi connections;
  if (connections.size() != 2) return std::fprintf(stderr, "%s: it is for two ranks: mpirun -n 2 %s\n", program, program), 1;
  communicator all(connections);
  std::optional<timed<Alone, tx::cpu>> one;
  std::optional<timed<Together, tx::distributed<tx::cpu, communicator>>> two;
  if (s.only != 2 && all.rank() == 0) one.emplace(s);
  if (s.only != 1) two.emplace(s, all);
  double seconds = 0, in_collectives = 0;
  for (int r = 0; r <= s.rounds; ++r) {
    if (one) one->round();
    all.barrier();
    double const before = all.seconds();
    auto const begin = std::chrono::steady_clock::now();
    if (two) two->round();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    in_collectives += all.seconds() - before;
    all.barrier();
  }
  if (all.rank() != 0) return 0;
  if (one) one->tell(1, 0);
  if (two) two->tell(2, in_collectives / seconds);
  return 0;
}

}  // namespace

void TX_PAGE(std::string const&, std::vector<double> const&) {}
