// What a program says of ranks, beside how many there are.
#pragma once

#include <tx/core/error.hpp>
#include <tx/core/rank_grid.hpp>

#include <string>

namespace tx {

namespace exec {

// Of a step's options, where it has any that say how ranks divide the work of a batch: 1: each has a batch of its own.
template <class Step>
inline constexpr int product_ranks = 1;
template <class Step>
inline constexpr int stage_ranks = 1;
template <class Step>
  requires requires { Step::options.ranks_of_batch(); }
inline constexpr int product_ranks<Step> = Step::options.tensor_ranks;
template <class Step>
  requires requires { Step::options.ranks_of_batch(); }
inline constexpr int stage_ranks<Step> = Step::options.stages;
template <class Step>
inline constexpr int ranks_of_batch = product_ranks<Step> * stage_ranks<Step>;

}  // namespace exec

// The grid in which so many ranks run a program.
template <class Step>
constexpr rank_grid grid_of(int ranks) {
  return {ranks, exec::product_ranks<Step>, exec::stage_ranks<Step>};
}

namespace exec {

// Throws value_error where so many ranks would do something else than the program is for.
template <class Step>
void check_ranks_of_step(int ranks, bool trains) {
  constexpr int products = ranks_of_batch<Step>;
  auto const refuse = [&](std::string const& wanted, char const* how) {
    throw value_error("executor: the step was compiled for " + wanted + " ranks; there are " + std::to_string(ranks) + ". FIX: start so many, or compile it for as many, " + how);
  };
  bool divides_batches = !trains;  // a program that does not train may have another batch in each row of the grid
  if constexpr (requires { Step::division; }) {
    divides_batches = divides_batches || Step::division.given;
    bool const fits = ranks % products == 0 && Step::division.is_for(ranks / products);
    if (Step::division.given && !Step::division.is_for_any() && !fits)
      refuse(std::to_string(Step::division.ranks * products), products > 1 ? "tx::data_parallel<M> beside tx::tensor_parallel<N> or tx::pipeline<N> for M N, or data_parallel<> for any multiple of N" : "tx::data_parallel<N>, or data_parallel<> for any number");
  }
  if (products > 1 && (ranks % products != 0 || (ranks != products && !divides_batches)))
    refuse((divides_batches ? "a multiple of " : "") + std::to_string(products), "tx::tensor_parallel<N> or tx::pipeline<N>");
  if (trains && ranks > products && !divides_batches) throw value_error("executor: " + std::to_string(ranks) + " ranks would train a model each. FIX: tx::data_parallel<> as an option of the step");
}

}  // namespace exec

}  // namespace tx
