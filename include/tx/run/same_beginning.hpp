// Ranks that train one model begin with the same seed, step and parameters, or train models that drift apart in silence: they compare them before the first run,
// and again when one was told to go on from elsewhere.
#pragma once

#include <tx/core/error.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace tx::exec {

// Throws value_error where this rank's number is not the mean of all ranks', bytewise: on one rank at least, unless all have the same. The others learn of it by the
// rank_error of what they ask for next. Sums of bytes are exact in f32 for up to 65,536 ranks.
template <class Communicator>
void check_same_beginning(Communicator& ranks, std::uint64_t seed, std::int64_t steps, std::uint64_t sum_of_parameters) {
  std::array<std::uint64_t, 3> const own{seed, static_cast<std::uint64_t>(steps), sum_of_parameters};
  constexpr char const* names[] = {"another seed", "another count of steps", "other parameters or states of the optimizer"};
  std::array<float, sizeof own> bytes{}, sums{};
  for (std::size_t k = 0; k < sizeof own; ++k) bytes[k] = static_cast<float>(own[k / 8] >> (k % 8 * 8) & 0xff);
  ranks.all_reduce(std::span<float const>(bytes), std::span<float>(sums));
  for (std::size_t k = 0; k < sizeof own; ++k)
    if (sums[k] != bytes[k] * static_cast<float>(ranks.size()))
      throw value_error("executor: rank " + std::to_string(ranks.rank()) + " begins with " + names[k / 8] + " than other ranks. FIX: the same seed, and the same checkpoint, on all");
}

}  // namespace tx::exec
