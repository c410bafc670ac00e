// What an executor asks of a step's type.
#pragma once

namespace tx::exec {

// Does a program update parameters, and so count their steps?
template <class Step>
inline constexpr bool trains = requires { typename Step::optimizer; };
// Runs of an update.
template <class Step>
inline constexpr int runs_of_update = 1;
template <class Step>
  requires requires { Step::options.runs; }
inline constexpr int runs_of_update<Step> = Step::options.runs;
template <class Step>
inline constexpr char step_tag = 0;  // its address is the step's alone

}  // namespace tx::exec
