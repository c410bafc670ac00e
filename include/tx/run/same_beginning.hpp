// Ranks that train one model begin with the same seed, step and parameters, or train models that drift apart in silence: they compare them before the first run,
// and again when one was told to go on from elsewhere.
#pragma once

#include <tx/core/error.hpp>
#include <tx/core/sum_of_bytes.hpp>
#include <tx/run/communicators.hpp>
#include <tx/run/frame.hpp>

#include <array>
#include <cstddef>
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
    sum = sum_of_bytes(std::as_bytes(std::span(c.at.v)), sum);  // of a collective: of which ranks, along which axis, to whom
  }
  return sum;
}

struct beginning {
  std::uint64_t number;
  char const* name;
};
// Throws value_error where one of this rank's numbers is not the mean of all ranks', bytewise: on one rank at least, unless all have the same. The others learn of it by the
// rank_error of what they ask for next. Sums of bytes are exact in f32 for up to 65,536 ranks.
template <std::size_t N, class Communicator>
void check_same_numbers(Communicator& ranks, beginning const (&own)[N], std::string const& fix) {
  std::array<float, N * 8> bytes{}, sums{};
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<float>(own[k / 8].number >> (k % 8 * 8) & 0xff);
  ranks.all_reduce(std::span<float const>(bytes), std::span<float>(sums));
  for (std::size_t k = 0; k < bytes.size(); ++k)
    if (sums[k] != bytes[k] * static_cast<float>(ranks.size()))
      throw value_error("executor: rank " + std::to_string(ranks.rank()) + " begins with " + own[k / 8].name + " than other ranks. FIX: " + fix);
}

// sum_of_arguments: of ranks that divide the work of a batch, which are given the same.
template <class Program, class Communicator>
void check_same_beginning(communicators<Communicator> const& of, std::uint64_t seed, std::int64_t steps, std::uint64_t sum_of_parameters, std::uint64_t sum_of_arguments) {
  auto& all = of.all();
  std::uint64_t const calls = requires { all.host(); } ? sum_of_calls<Program>() : 0;
  check_same_numbers(host_end(all), {{seed, "another seed"}, {static_cast<std::uint64_t>(steps), "another count of steps"}, {sum_of_parameters, "other parameters or states of the optimizer"}, {calls, "another program"}},
             "the same seed, and the same checkpoint, on all");
  if (of.grid().row() > 1) check_same_numbers(host_end(of.across(across::work)), {{sum_of_arguments, "other arguments"}}, "one batch for all that divide its work, see tx::rank_grid");
}

}  // namespace tx::exec
