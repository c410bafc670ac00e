// A drawn program against the evaluator, with every number of rows, in every plan.
#pragma once

#include "planned.hpp"

namespace drawn {

// What is wrong with a program; empty if nothing is. One that cannot be recorded, or that planning refuses, is not wrong:
// `refused` says why.
struct verdict {
  std::string wrong;
  std::string refused;
};
verdict check(program const& p, totals& sums);

// What is wrong with the plans of a graph of fixed extents, whose leaves are words.hpp's; empty if nothing is.
std::string wrong_with(graph const& g, dtype type = dtype::f64, totals* sums = nullptr);

}  // namespace drawn
