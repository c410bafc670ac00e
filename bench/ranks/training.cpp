// Usage: mpirun -n RANKS bench_ranks [--over mpi|sockets] [--steps N] [--rounds N] [--threads N]
// A step of a BERT classifier of 6 layers of 384 (bench/step's minilm: 32 texts of 64 tokens a rank) on several ranks. Each round times N steps with the ranks'
// gradients averaged, N whose collectives go on in the background (tx::overlapped), and N where each goes its own way: the difference is what communication costs that nothing hides.
// Prints one JSON line: seconds of a step of all three, the median of the rounds, those shares, tokens a second of all ranks, and bytes as planned of a rank and of the same step by itself.
#include "batch.hpp"
#include "step.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/dist/data_parallel.hpp>
#include <tx/dist/distributed.hpp>
#include <tx/dist/net/in_background.hpp>
#include <tx/dist/net/mpi.hpp>
#include <tx/dist/net/ranks.hpp>
#include <tx/dist/net/sockets.hpp>
#include <tx/run/executor.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// Says of each value that all ranks have it, as soon as it is asked.
struct alone {
  int ranks;

  static int rank() { return 0; }
  int size() const { return ranks; }
  template <class T>
  void all_reduce(std::span<T const> from, std::span<T> to) const {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] * static_cast<T>(ranks);
  }
  template <class T>
  static void reduce_scatter(std::span<T const>, std::span<T>) {}
  template <class T>
  static void all_gather(std::span<T const>, std::span<T>) {}
  template <class T>
  static void all_to_all(std::span<T const>, std::span<T>) {}
  template <class T>
  static void swap_with(std::span<T const>, std::span<T>, int) {}
  template <class T>
  static void broadcast(std::span<T>, int) {}
  static void barrier() {}
};

using data_parallel_step = step_with<tx::data_parallel<>>;
using overlapped_step = step_with<tx::data_parallel<>, tx::overlapped>;

struct timed {
  double together, overlapped, by_itself;
};

template <class Transport>
void run(Transport& over, int steps, int rounds, int threads) {
  tx::dist::ranks all(over);
  using together = tx::distributed<tx::cpu, tx::dist::ranks<Transport>>;
  alone nobody{all.size()};
  tx::executor<data_parallel_step, together> shared{tx::seed(1), all, {.threads = threads}};
  tx::executor<data_parallel_step, tx::distributed<tx::cpu, alone>> own{tx::seed(1), nobody, {.threads = threads}};
  auto const seconds = [&](auto& run, int first) {
    all.barrier();
    auto const begin = std::chrono::steady_clock::now();
    for (int s = 0; s < steps; ++s) {
      batch const b(all.rank(), first + s);
      run(b.ids, b.labels);
    }
    all.barrier();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / steps;
  };
  tx::dist::in_background behind(all);
  tx::executor<overlapped_step, tx::distributed<tx::cpu, decltype(behind)>> beside{tx::seed(1), behind, {.threads = threads}};
  seconds(shared, 0), seconds(beside, 0), seconds(own, 0);
  std::vector<timed> all_rounds;
  for (int r = 0; r < rounds; ++r) all_rounds.push_back({seconds(shared, r * steps), seconds(beside, r * steps), seconds(own, r * steps)});
  auto const median = [&](auto of) {
    std::ranges::sort(all_rounds, {}, of);
    return all_rounds[all_rounds.size() / 2].*of;
  };
  double const both = median(&timed::together), hidden = median(&timed::overlapped), one = median(&timed::by_itself);
  if (all.rank() == 0)
    std::printf("{\"ranks\": %d, \"threads\": %d, \"seconds\": %.5f, \"seconds_alone\": %.5f, \"exposed\": %.4f, \"seconds_overlapped\": %.5f, \"exposed_overlapped\": %.4f, \"tokens_per_second\": %.0f, \"parameters\": %lld, \"planned_peak\": %lld, \"planned_peak_overlapped\": %lld, \"planned_peak_of_one\": %lld}\n", all.size(), threads, both, one,
                1 - one / both, hidden, 1 - one / hidden, static_cast<double>(batch::texts * batch::tokens) * all.size() / both, static_cast<long long>(tx::layout<data_parallel_step::model>::size),
                static_cast<long long>(data_parallel_step::memory.peak), static_cast<long long>(overlapped_step::memory.peak), static_cast<long long>(step::memory.peak));
}

}  // namespace

void TX_PAGE(std::string const&, std::vector<double> const&) {}

int main(int argc, char** argv) {
  int steps = 4, rounds = 5, threads = 1;
  std::string over = "mpi";
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const name = argv[i];
    if (name == "--over") over = argv[i + 1];
    else if (name == "--steps") steps = std::atoi(argv[i + 1]);
    else if (name == "--rounds") rounds = std::atoi(argv[i + 1]);
    else if (name == "--threads") threads = std::atoi(argv[i + 1]);
    else return std::fprintf(stderr, "bench_ranks: unknown option %s\n", argv[i]), 1;
  }
  if (over == "mpi") {
    tx::dist::mpi connections;
    run(connections, steps, rounds, threads);
  } else {
    tx::dist::sockets connections(tx::dist::launched());
    run(connections, steps, rounds, threads);
  }
}
