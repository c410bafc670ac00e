// What an estimate of a program's time is made of (inspect/roofline.hpp): what a device does in a second, what a kernel does, and which of it only a backend
// knows. A backend that can be estimated has device_work for its targets, beside them.
#pragma once

#include <tx/plan/target.hpp>

#include <string>

namespace tx {

// What a device does in a second; what is reached, which is less than what its maker prints.
struct device_rates {
  char const* name;
  double bytes;        // of its memory
  double half_flops;   // products of halves, on units for matrices
  double float_flops;  // all other arithmetic
  double launch;       // seconds from the end of a kernel to the start of the next one of a captured graph
};

// A call of a program, as often as a run makes it.
struct kernel_cost {
  std::string name;
  std::int64_t runs = 0;
  bool starts_alone = true;  // not together with a call before it
  double matrix_flops = 0;  // on units for matrices, of one call
  double other_flops = 0;
  double least_bytes = 0;   // every operand and result once
  double moved_bytes = 0;   // and what the kernels write for themselves and read again
  double behind_bytes = 0;  // of those, what a second kernel moves, behind a product
  device_rates on{};

  double seconds() const {  // of all its calls
    double const arithmetic = matrix_flops / on.half_flops + other_flops / on.float_flops, memory = (moved_bytes - behind_bytes) / on.bytes;
    double const behind = behind_bytes > 0 ? on.launch + behind_bytes / on.bytes : 0;
    return static_cast<double>(runs) * ((starts_alone ? on.launch : 0) + (arithmetic > memory ? arithmetic : memory) + behind);
  }
};

// template <class Kernel> static void add(kernel_cost&, Kernel const&): what a target's kernels do otherwise than any would, all of whose arithmetic is
// other_flops and which move each operand and result once. Kernel: exec::called_kernel of inspect/tables.hpp. Of other targets there is none.
template <target const& To>
struct device_work;

}  // namespace tx
