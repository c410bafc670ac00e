// Ranks that train one model begin with the same seed, step and parameters, or train models that drift apart in silence: they compare them before the first run,
// and again when one was told to go on from elsewhere.
#pragma once

#include <tx/core/error.hpp>
#include <tx/core/sum_of_bytes.hpp>
#include <tx/run/frame.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace tx::exec {

// Stands for what a program does, in which order. On hosts each message says what it is a part of; devices' do not.
template <class Program>
std::uint64_t sum_of_calls() {
  std::uint64_t sum = sum_of_no_bytes;
  for (call const& c : Program::calls) {
    std::array<std::int64_t, 6> const facts{c.kernel, c.operands, c.batch, c.rows, c.cols, c.depth};
    sum = sum_of_bytes(std::as_bytes(std::span(facts)), sum);
  }
  return sum;
}

// sum_of_arguments: where all ranks are given the same; else 0 on all.
// Throws value_error where this rank's number is not the mean of all ranks', bytewise: on one rank at least, unless all have the same. The others learn of it by the
// rank_error of what they ask for next. Sums of bytes are exact in f32 for up to 65,536 ranks.
template <class Program, class Communicator>
void check_same_beginning(Communicator& all, std::uint64_t seed, std::int64_t steps, std::uint64_t sum_of_parameters, std::uint64_t sum_of_arguments) {
  auto& ranks = host_end(all);
  std::array<std::uint64_t, 5> const own{seed, static_cast<std::uint64_t>(steps), sum_of_parameters, requires { all.host(); } ? sum_of_calls<Program>() : 0, sum_of_arguments};
  constexpr char const* names[] = {"another seed", "another count of steps", "other parameters or states of the optimizer", "another program", "other arguments"};
  std::array<float, sizeof own> bytes{}, sums{};
  for (std::size_t k = 0; k < sizeof own; ++k) bytes[k] = static_cast<float>(own[k / 8] >> (k % 8 * 8) & 0xff);
  ranks.all_reduce(std::span<float const>(bytes), std::span<float>(sums));
  for (std::size_t k = 0; k < sizeof own; ++k)
    if (sums[k] != bytes[k] * static_cast<float>(ranks.size()))
      throw value_error("executor: rank " + std::to_string(ranks.rank()) + " begins with " + names[k / 8] + " than other ranks. FIX: the same seed, and the same checkpoint, on all");
}

}  // namespace tx::exec
