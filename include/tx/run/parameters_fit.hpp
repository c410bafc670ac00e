// Are parameters and states that others made what a program takes? Throws value_error where they are not.
#pragma once

#include <tx/core/error.hpp>
#include <tx/core/rank_grid.hpp>
#include <tx/expr/state_layout.hpp>

#include <string>

namespace tx::exec {

// Those of another program's executor.
TX_COLD inline void check_shared(state_kinds const& there, state_kinds const& wanted) {
  if (there < wanted) throw value_error("executor: the other program keeps no optimizer state to share. FIX: make the executor of the step first, and the other from it");
  if (!there.has_parameters_as(wanted))
    throw value_error("executor: one of the programs divides parameters among ranks, and the other does not, or among another number. FIX: tx::function<f, model, tx::kept_as<step>> beside that step, or an executor of its own and write(other.read())");
}

// Those of the caller's.
TX_COLD inline void check_given(state_kinds const& there, state_kinds const& wanted) {
  if (there.divided())
    throw value_error("executor: the parameters' block is divided among ranks, of which it is one's portion. FIX: a block without zero, or executor(seed, ranks), which makes its own");
  if (there < wanted)
    throw value_error("executor: the parameters keep " + std::to_string(int{there}) + " states; the program needs " + std::to_string(int{wanted}) + ". FIX: parameter_block(seed, step::states)");
}

// States that are an optimizer's.
TX_COLD inline void check_laid_out(state_kinds const& there, state_kinds const& wanted) {
  if (!there.begin_with(wanted))
    throw value_error("executor: the states beside the parameters are laid out otherwise than the step's, per element, row, column, tensor or step, or divided among ranks. FIX: parameter_block(seed, step::states)");
}

// On the ranks of a grid.
TX_COLD inline void check_ranks(state_kinds const& there, rank_grid const& grid) {
  int ranks = 1;
  for (int k = 0; k < there.portions().count; ++k) ranks *= grid.subset(there.portions().by[k].ranks.which, 0).count;
  if (there.portions().ranks() != ranks)
    throw value_error("executor: what lies beside the parameters is divided among " + std::to_string(there.portions().ranks()) + " ranks; there are " + std::to_string(ranks) + ". FIX: start so many, or compile the step for as many");
}

// Block k: the parameters, which are block 0, or a state.
TX_COLD inline void check_is_there(state_kinds const& there, int k) {
  if (k < 0 || k > there)
    throw value_error("parameters: there is no block " + std::to_string(k) + "; beside the parameters there are " + std::to_string(int{there}) + " states. FIX: a block of those, or one of an optimizer that keeps it");
}

// Block k, of a state, in place of the parameters.
TX_COLD inline void check_block(state_kinds const& there, int k) {
  check_is_there(there, k);
  if (there.divided())
    throw value_error("executor: ranks divide block " + std::to_string(k) + " among them, and a program takes whole parameters. FIX: an executor of its own, and write(read(" + std::to_string(k) + ")) on all ranks");
  if (there.of(k - 1) != per::element)
    throw value_error("executor: block " + std::to_string(k) + " has no number for each parameter. FIX: run_options::block of a state that has, as an average");
}

}  // namespace tx::exec
