// What blocks of a launch hand each other: one fences and then changes a number atomically, another changes it later and then fences, and from
// the barrier after that on its threads may read what the first one's had written before the barrier ahead of its fence (PTX ISA, Memory
// Consistency Model: release and acquire patterns).
//
//   block 3   writes, barrier, thread 0: fence, atomic on A       at time 70: all before its barrier is released at A
//   block 5   thread 0: atomic on A, fence, barrier, reads        acquired: of block 3 what was before time 70
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace ptx {

// Of each block a time: what it did before that is ordered.
class known_blocks {
 public:
  std::uint32_t since(std::uint32_t block) const { return block < of_.size() ? of_[block] : 0; }
  void learn(std::uint32_t block, std::uint32_t until) {
    if (of_.size() <= block) of_.resize(block + 1, 0);
    if (of_[block] < until) of_[block] = until;
  }
  void learn(known_blocks const& other) {
    for (std::uint32_t b = 0; b < other.of_.size(); ++b)
      if (other.of_[b] != 0) learn(b, other.of_[b]);
  }
  void clear() { of_.clear(); }

 private:
  std::vector<std::uint32_t> of_;
};

class handovers {
 public:
  // A launch begins: what was before is ordered before it anyway.
  void begin_launch() { released_.clear(); }
  void begin_block(std::uint32_t number) {
    block_ = number;
    fenced_.clear();
    observed_.clear();
    pending_.clear();
    acquired_.clear();
  }
  // By a thread whose block was at its last barrier at `since`.
  void fence(int thread, std::uint32_t since) {
    fenced_[thread] = since;
    if (auto const seen = observed_.find(thread); seen != observed_.end()) pending_.learn(seen->second);
  }
  void atomic(int thread, std::uint64_t address) {
    known_blocks& at = released_[address];
    observed_[thread].learn(at);
    auto const fence = fenced_.find(thread);
    if (fence == fenced_.end()) return;
    at.learn(acquired_);
    at.learn(block_, fence->second);
  }
  void barrier() { acquired_.learn(pending_); }
  known_blocks const& acquired() const { return acquired_; }

 private:
  std::map<std::uint64_t, known_blocks> released_;  // by address
  std::uint32_t block_ = 0;                         // that runs
  std::map<int, std::uint32_t> fenced_;             // its threads
  std::map<int, known_blocks> observed_;
  known_blocks pending_, acquired_;
};

}  // namespace ptx
