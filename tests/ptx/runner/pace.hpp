// How long a block takes that has a processor for itself, in cycles: not what a device would measure, but enough to tell which of two kernels waits less.
// A warp starts its instructions in any order within a straight stretch of code, as ptxas arranges them, and no stretch before all of the
// one before it have started. Each starts when its operands are there; how long they take is of the order that others have measured.
#pragma once

#include "module.hpp"

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace ptx {

// Of a kernel's instructions, by number.
struct timing {
  int cycles = 0;      // until its results are there
  int slots = 1;       // of an issue
  int results = 0;     // so many operands at its front
  bool ends = false;   // the last one of its stretch
  bool loads = false, stores = false, is_generic = false;  // from and to memory that may not be the block's own
};

class pace {
 public:
  explicit pace(kernel const& k);

  struct use {
    std::uint64_t instructions = 0;  // of warps
    std::uint64_t cycles = 0;        // of all blocks, one after the other
    std::uint64_t lines = 0;         // of 128 bytes that came from memory, or went there
  } used;

  // A launch begins: nothing of its memory is near.
  void begin_launch() { near_.clear(); }
  timing const& of(int at) const { return timing_[static_cast<std::size_t>(at)]; }
  // Memory at this address is read or written: for the first time in this launch?
  bool is_far(std::uint64_t address) {
    bool const far = near_.insert(address >> 7).second;
    used.lines += far;
    return far;
  }

  // One warp's way.
  class clock {
   public:
    void begin(kernel const& k) {
      ready_.assign(static_cast<std::size_t>(k.register_bytes / 4 + 1), 0);
      now_ = last_ = 0;
    }
    std::uint64_t now() const { return now_; }
    void wait_until(std::uint64_t t) { now_ = last_ = t; }

   private:
    friend class pace;
    std::vector<std::uint64_t> ready_;  // when a register is
    std::uint64_t now_ = 0, last_ = 0;  // when its stretch began; when the last of it starts
  };

  enum class memory { none, shared, near, far };
  // It runs instruction `at`, which reads or writes such memory.
  void note(clock& c, int at, memory where);

 private:
  kernel const& of_;
  std::vector<timing> timing_;
  std::unordered_set<std::uint64_t> near_;
};

}  // namespace ptx
