// A parameter that would lie otherwise in each run.
// expect: tx::param, tx::state: a parameter or state has a bounded extent, and would lie otherwise in each run. FIX: a fixed one
#include <tx/expr/param.hpp>

tx::param<tx::tensor<float, tx::dyn<8>, 3>> table;
