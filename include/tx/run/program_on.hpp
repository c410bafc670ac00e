// The program of a step as it is planned for a backend.
#pragma once

#include <tx/plan/target.hpp>

namespace tx::exec {

template <class Step, class Backend>
using program_on = typename Step::template program<Backend::target>;

}  // namespace tx::exec
