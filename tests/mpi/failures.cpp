// Ranks of a job of MPI that fail, or ask for different things: the others get an error that says so, and the job ends.
#include <tx/dist/net/mpi.hpp>
#include <tx/dist/net/ranks.hpp>

#include <cstdio>
#include <cstring>

namespace {

// What a rank is told where one asks for something else, and then that of the rank that says why it failed.
void mismatched(tx::dist::ranks<tx::dist::mpi>& all) {
  std::vector<float> x(10);
  if (all.rank() == 0) all.barrier();
  else all.all_reduce(std::span<float const>(x), std::span(x));
}

}  // namespace

int main() {
  tx::dist::mpi connections;
  tx::dist::ranks all(connections);
  try {
    std::vector<float> x(100'000, 1.0f);
    for (int k = 0; k < 20; ++k) all.all_reduce(std::span<float const>(x), std::span(x));
    mismatched(all);
  } catch (tx::dist::rank_error const& e) {
    bool const right = std::strstr(e.what(), "where this rank waits for") != nullptr && std::strstr(e.what(), "barrier number") != nullptr && std::strstr(e.what(), "all_reduce number") != nullptr;
    std::printf("rank %d: %s\n", all.rank(), right ? "as it should be" : e.what());
    std::fflush(stdout);
    return 1;
  }
  std::puts("no error");
  return 1;
}
