// When a loop that takes turns with others runs an iteration: ranks that divide a batch are then at different ones.
#pragma once

#include <cstdint>

namespace tx {

// In iteration t of the loop around it, rank r runs iteration number (t - first - per_rank r) / every of `count`, where there is such a number; else none.
//
//   first 0, per_rank 1, every 2     t       0  1  2  3  4
//                                    rank 0  0     1     2
//                                    rank 1     0     1
struct turns {
  static constexpr int unbounded = 1 << 20;

  int count = 0;  // 0: the loop takes no turns, all of its iterations run one after the other
  int first = 0, per_rank = 0, every = 1;
  int from_rank = 0, to_rank = unbounded;  // other ranks run none

  // The iteration's number; -1: there is none.
  constexpr std::int64_t number(std::int64_t around, std::int64_t rank) const {
    std::int64_t const since = around - first - per_rank * rank;
    bool const now = since >= 0 && since % every == 0 && since / every < count && rank >= from_rank && rank <= to_rank;
    return now ? since / every : -1;
  }
  constexpr explicit operator bool() const { return count > 0; }
  constexpr bool operator==(turns const&) const = default;
};

}  // namespace tx
