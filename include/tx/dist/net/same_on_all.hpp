// check_same(ranks, sum, what): do all ranks have what the first has? A rank that does not says so, and the others learn it from what they ask for next.
//
//   std::uint64_t sum = tx::sum_of_no_bytes;
//   for (int k = 0; k <= run.states(); ++k) {
//     auto const block = run.read(k);
//     sum = tx::sum_of_bytes(std::as_bytes(std::span(block)), sum);
//   }
//   tx::dist::check_same(all, sum, "parameters and states after step " + std::to_string(run.steps_run()));
#pragma once

#include <tx/core/sum_of_bytes.hpp>
#include <tx/dist/communicator.hpp>

#include <string>

namespace tx::dist {

// Throws rank_error on each rank whose sum is another than the first's. All ranks have to call it.
template <class Communicator>
void check_same(Communicator& ranks, std::uint64_t sum, std::string const& what) {
  std::uint64_t first = sum;
  ranks.broadcast(std::span<std::uint64_t>(&first, 1), 0);
  if (first != sum)
    throw rank_error("rank " + std::to_string(ranks.rank()) + " has other " + what + " than rank 0: they train models that drift apart. FIX: one program with the same options on all, on processors of one kind");
}

}  // namespace tx::dist
