// What can be told of a kernel by reading it.
#pragma once

#include "module.hpp"

namespace ptx {

struct kernel_facts {
  int instructions = 0;
  int widest_load = 0, widest_store = 0;  // bytes of a thread at a time, from and to global memory
  int divisions_in_loops = 0;             // of integers
  int barriers = 0;                       // and waits
};

kernel_facts facts_of(kernel const& k);

// The parts of its name: ld, global, v4, f32.
std::vector<std::string> name_of(instruction const& i);

}  // namespace ptx
