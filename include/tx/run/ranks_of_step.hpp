// What a program says of ranks, beside how many there are.
#pragma once

#include <tx/core/error.hpp>

#include <string>

namespace tx::exec {

// Ranks that have parts of products; 1: none.
template <class Step>
inline constexpr int tensor_ranks = 1;
template <class Step>
  requires requires { Step::options.tensor_ranks; }
inline constexpr int tensor_ranks<Step> = Step::options.tensor_ranks;

// Throws value_error where so many ranks would do something else than the program is for.
template <class Step>
void check_ranks_of_step(int ranks, bool trains) {
  auto const refuse = [&](int wanted, char const* how) {
    throw value_error("executor: the step was compiled for " + std::to_string(wanted) + " ranks; there are " + std::to_string(ranks) + ". FIX: start so many, or compile it for as many, " + how);
  };
  if (tensor_ranks<Step> > 1 && ranks != tensor_ranks<Step>) refuse(tensor_ranks<Step>, "tx::tensor_parallel<N>");
  bool shared = tensor_ranks<Step> > 1;
  if constexpr (requires { Step::division; }) {
    shared = shared || Step::division.given;
    if (Step::division.given && !Step::division.is_for(ranks)) refuse(Step::division.ranks, "tx::data_parallel<N>, or data_parallel<> for any number");
  }
  if (trains && ranks > 1 && !shared) throw value_error("executor: " + std::to_string(ranks) + " ranks would train a model each. FIX: tx::data_parallel<> as an option of the step");
}

}  // namespace tx::exec
