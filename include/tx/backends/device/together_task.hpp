// Several calls of one task as one launch: each has blocks of its own of the grid. Of tasks whose blocks tell each other nothing.
#pragma once

#include <tx/backends/device/vocabulary.hpp>

namespace tx::backends::device {

// A block of a part of the grid.
template <class Block>
class part_block {
 public:
  TX_DEVICE part_block(Block& b, int first, int blocks) : b_(b), first_(first), blocks_(blocks) {}
  TX_DEVICE int thread() const { return b_.thread(); }
  TX_DEVICE int threads() const { return b_.threads(); }
  TX_DEVICE int block() const { return b_.block() - first_; }
  TX_DEVICE int blocks() const { return blocks_; }
  TX_DEVICE std::byte* shared() const { return b_.shared(); }
  TX_DEVICE void sync() { b_.sync(); }
  TX_DEVICE void sync_warp() { b_.sync_warp(); }
  template <class T>
  TX_DEVICE T exchange(T x, int mask) {
    return b_.exchange(x, mask);
  }

 private:
  Block& b_;
  int first_, blocks_;
};

template <class Task>
struct together_task {
  static constexpr int threads = Task::threads;
  static constexpr int most = [] {
    constexpr std::size_t fit = (most_arguments - 64) / (sizeof(typename Task::arguments) + sizeof(int));
    return static_cast<int>(fit < 1 ? 1 : fit < 32 ? fit : 32);
  }();

  struct arguments {
    int count = 0;
    int end[most] = {};  // of each part's blocks, among all
    typename Task::arguments part[most]{};
  };

  template <class Block>
  static TX_DEVICE void run(Block& b, arguments const& a) {
    int k = 0;
    while (b.block() >= a.end[k]) ++k;
    int const first = k > 0 ? a.end[k - 1] : 0;
    part_block<Block> part(b, first, a.end[k] - first);
    Task::run(part, a.part[k]);
  }
};

}  // namespace tx::backends::device
