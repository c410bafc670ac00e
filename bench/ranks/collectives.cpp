// Usage: mpirun -n RANKS bench_collectives [--most BYTES] [--rounds N]
// Each collective by size: tx's over MPI and over connections of TCP, and MPI's own, in turns; the median of the rounds. Sums of f32; tx's are in the
// order of its tree. Prints a table of milliseconds, and of MPI's time by tx's.
#include <tx/dist/net/mpi.hpp>
#include <tx/dist/net/ranks.hpp>
#include <tx/dist/net/sockets.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

namespace {

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t most = 100'000'000;
  int rounds = 9;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--most") == 0) most = std::strtoull(argv[i + 1], nullptr, 10);
    else if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
    else return std::fprintf(stderr, "bench_collectives: unknown option %s\n", argv[i]), 1;
  }
  tx::dist::mpi by_mpi;
  tx::dist::ranks mpi(by_mpi);
  tx::dist::sockets by_sockets(tx::dist::launched());
  tx::dist::ranks sockets(by_sockets);
  auto const size = static_cast<std::size_t>(mpi.size());
  if (mpi.rank() == 0) std::printf("%zu ranks, milliseconds\n%-14s %12s %10s %10s %10s %10s\n", size, "", "bytes", "tx, MPI", "tx, TCP", "MPI", "MPI / tx");

  for (std::size_t bytes = 1000; bytes <= most; bytes *= 10) {
    std::size_t const count = bytes / sizeof(float) / size * size, each = count / size;
    std::vector<float> from(count, 1.0f), to(count);
    std::span<float const> const whole(from), part = whole.first(each);
    std::span<float> const out(to), own = out.first(each);
    int const n = static_cast<int>(count), k = static_cast<int>(each);
    struct collective {
      char const* name;
      std::function<void(int)> run;  // 0: over MPI, 1: over TCP, 2: MPI's
    };
    auto const by = [&](int which, auto const& tx, auto const& own_of_mpi) {
      if (which == 0) tx(mpi);
      else if (which == 1) tx(sockets);
      else own_of_mpi();
    };
    collective const all[] = {
        {"all_reduce", [&](int w) { by(w, [&](auto& c) { c.all_reduce(whole, out); }, [&] { MPI_Allreduce(from.data(), to.data(), n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }); }},
        {"reduce_scatter", [&](int w) { by(w, [&](auto& c) { c.reduce_scatter(whole, own); }, [&] { MPI_Reduce_scatter_block(from.data(), to.data(), k, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }); }},
        {"all_gather", [&](int w) { by(w, [&](auto& c) { c.all_gather(part, out); }, [&] { MPI_Allgather(from.data(), k, MPI_FLOAT, to.data(), k, MPI_FLOAT, MPI_COMM_WORLD); }); }},
        {"broadcast", [&](int w) { by(w, [&](auto& c) { c.broadcast(out, 0); }, [&] { MPI_Bcast(to.data(), n, MPI_FLOAT, 0, MPI_COMM_WORLD); }); }},
        {"all_to_all", [&](int w) { by(w, [&](auto& c) { c.all_to_all(whole, out); }, [&] { MPI_Alltoall(from.data(), k, MPI_FLOAT, to.data(), k, MPI_FLOAT, MPI_COMM_WORLD); }); }}};
    for (collective const& c : all) {
      int const repeats = bytes < 1'000'000 ? 20 : 1;
      std::vector<double> ms[3];
      for (int round = -1; round < rounds; ++round)
        for (int which = 0; which < 3; ++which) {
          MPI_Barrier(MPI_COMM_WORLD);
          auto const begin = std::chrono::steady_clock::now();
          for (int r = 0; r < repeats; ++r) c.run(which);
          double mine = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() / repeats, slowest = 0;
          MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
          if (round >= 0) ms[which].push_back(slowest);
        }
      double const tx = median(ms[0]), tcp = median(ms[1]), own_of_mpi = median(ms[2]);
      if (mpi.rank() == 0) std::printf("%-14s %12zu %10.3f %10.3f %10.3f %10.2f\n", c.name, count * sizeof(float), tx, tcp, own_of_mpi, own_of_mpi / tx), std::fflush(stdout);
    }
  }
}
