// PTX as the runner holds it: a module's kernels, each a list of instructions over a file of registers.
#pragma once

#include "types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptx {

class warp;
struct instruction;

using lanes = std::uint32_t;  // a bit for each of a warp's threads
inline constexpr int warp_size = 32;
inline constexpr lanes all_lanes = 0xffffffffu;

// What an instruction does for these lanes.
using action = void (*)(warp&, instruction const&, lanes);

enum class flow {
  plain,
  branch,   // to `target`
  leave,    // the thread ends
  barrier,  // all threads of the block meet
  meeting,  // lanes of the warp meet, those of a mask in an operand
};

// A register, or a number that the kernel's code names: 32 of them lie in the register file, one for each lane, a
// predicate's as bits of one word.
struct slot {
  int at = -1;    // bytes into the register file
  int width = 0;  // bytes of a lane; 0: a predicate
};

inline constexpr int most_slots = 16;

struct instruction {
  action run = nullptr;
  flow kind = flow::plain;
  slot guard;  // a predicate, if it has one
  bool guard_is_negated = false;
  bool all_meet = false;                 // a meeting of all lanes, without a mask
  bool is_constant = false;              // a load of memory that nobody writes meanwhile
  std::array<slot, most_slots> slots{};  // of its operands, those of vectors one after the other
  int count = 0;                         // of slots
  std::int64_t offset = 0;               // of its address,
  std::int64_t second_offset = 0;        // and of the second one
  int number = 0;   // what a family of instructions needs to know beside: how many elements, groups, which mode
  int target = -1;  // of a branch
  int wait = -1;    // its number among the kernel's barriers and waits
  int line = 0;     // of the PTX text
  int file = 0,
      file_line =
          0;  // of C++, where the text says so (nvcc -lineinfo): of a function that was inlined where it is called
  std::string text;  // as it stands there
};

// Numbers that are no registers: they are written into the register file before a kernel begins.
struct constant {
  enum class kind { number, parameter, shared, dynamic_shared, global, local, special };
  kind what = kind::number;
  std::uint64_t bits =
      0;  // the number; or bytes from the beginning of parameters, shared or local memory; or which special register
  std::string name;  // of a global
  slot to;
};

enum special : std::uint64_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  lanemask_eq
};

struct parameter {
  int at = 0;  // bytes from the first one
  int bytes = 0;
};

struct kernel {
  std::string name;
  std::vector<parameter> parameters;
  std::vector<instruction> code;
  std::vector<constant> constants;
  int register_bytes = 0;  // of a warp
  int local_bytes = 0;     // of a thread
  int shared_bytes = 0;    // of a block, beside what a launch asks for
  int most_threads = 1024;
  int required_threads = 0;  // 0: any number
  int waits = 0;             // barriers, and waits for copies

  int parameter_bytes() const { return parameters.empty() ? 0 : parameters.back().at + parameters.back().bytes; }
};

// A variable of a module, in global or constant memory.
struct variable {
  int alignment = 1;
  std::vector<std::byte> bytes;
};

struct module {
  std::string target;  // sm_90
  std::map<std::string, kernel> kernels;
  std::map<std::string, variable> variables;
  std::map<int, std::string> files;  // of C++

  std::string source_of(instruction const& i) const {
    auto const file = files.find(i.file);
    return file == files.end() ? "" : file->second + ":" + std::to_string(i.file_line);
  }
};

}  // namespace ptx
