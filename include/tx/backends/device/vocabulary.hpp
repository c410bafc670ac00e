// The words that device code is written with, so that an interpreter on the host can run it too.
//
// A task is a struct with `arguments` (trivially copyable, passed by value), `threads` (the most that a block has) and `run(b, arguments)`, which
// each thread of a block `b` runs:
//   b.thread(), b.threads()  number of this thread, and how many the block has: a multiple of 32
//   b.block(), b.blocks()    number of the block, and how many there are
//   b.shared()               the block's fast memory, as many bytes as the launch asked for
//   b.sync(), b.sync_warp()  all threads of the block, or of the warp, meet
//   b.exchange(x, mask)      the x of the thread whose number differs in the bits of mask < 32; all threads of a warp meet
//   b.ballot(x)              bit k: is x true in lane k of the warp? All threads of a warp meet
//   b.exp2(x)                2^x of f32, to some 2^-22 of it; what is below 2^-126 may be 0. Of devices that have add_product
//   b.last_of(count, blocks) all threads of the block meet; in the last of so many blocks to come here it is true, and what the others' threads wrote
//                            before they came can be read. *count is 0 before and after
//   b.copy(to, from, bytes)  16 bytes of shared memory, from a multiple of 16, become so many from memory (a multiple of 16 too) and zeros behind
//                            them: later, by themselves. b.end_copies() ends a group of a thread's copies, and after b.wait_copies<N>() all but its
//                            last N groups are there, for this thread
//   b.load_matrices<Transposed>(row)  a warp loads four matrices of 8 x 8 halves from shared memory: lane k's `row` is row k % 8 of matrix k / 8. A lane
//                            gets of each elements 2 * (lane % 4) and the next of row lane / 4, or of column lane / 4
//   b.add_product<D>(sum, left, low, high)  a warp's sum [16, 8] in f32 += left [16, 16] * right [16, 8], both of halves of type D, in the parts that
//                            load_matrices gives: `left` its rows 0 to 7 and 8 to 15 of columns 0 to 7, then of columns 8 to 15; `low` and `high` the right
//                            one's columns, of rows 0 to 7 and 8 to 15. Lane k has of the sum elements 2 * (k % 4) and the next of row k / 4, then of row k / 4 + 8
//   b.add_wavefront_product<D>(sum, left, right)  of 64 lanes, where a device has such units in place of a warp's: a sum [16, 16] in f32 += left [16, 16] * right [16, 16].
//                            Lane k has of the left side row k % 16, of the right one column k % 16, of both depths 4 * (k / 16) to + 3, as two words; of the sum
//                            rows 4 * (k / 16) to + 3 of column k % 16
// A device launches tasks, in order: `launch<Task>(blocks, threads, shared_bytes, arguments)`, `clear(to, bytes)`.
#pragma once

#include <tx/config.hpp>

#include <cstdint>
#include <utility>

#if defined(__CUDACC__) || defined(__HIPCC__)
#define TX_DEVICE __device__
#define TX_UNROLL _Pragma("unroll")
#define TX_ROLLED _Pragma("unroll 1")
#else
#define TX_DEVICE
#define TX_UNROLL
#define TX_ROLLED
#endif

namespace tx::backends::device {

inline constexpr int warp = 32, wavefront = 64;
inline constexpr int most_threads = 256;               // of a block
inline constexpr int most_blocks = 4096;               // more work is a loop
inline constexpr std::int64_t most_grid = 2147483647;  // blocks of a product, whose tiles are a block each
inline constexpr std::int64_t most_block_memory = 227 << 10;  // bytes of shared memory that a block may ask for, from compute capability 9.0 on
inline constexpr std::size_t most_arguments = 32764;   // bytes, from compute capability 7.0 on

constexpr int log_of(int power_of_two) {
  int log = 0;
  while (1 << log < power_of_two) ++log;
  return log;
}

// The first lane whose bit a ballot has; one has it.
TX_DEVICE inline int first_lane(std::uint32_t bits) {
  int lane = 0;
  for (; (bits & 1u) == 0; bits >>= 1) ++lane;
  return lane;
}

// What a lane has of four matrices of 8 x 8 halves: two elements of each.
struct matrices {
  std::uint32_t part[4];
};

// Threads that work on one row: a part of a warp (a power of two), a warp, or the whole block.
// Size: how many, where that is known.
template <class Block, int Size = 0>
class team {
 public:
  // 1 << size_log threads.
  TX_DEVICE team(Block& b, int size_log) : b_(b), size_log_(size_log) {}
  TX_DEVICE int size() const { return 1 << log(); }
  TX_DEVICE int lane() const { return b_.thread() & (size() - 1); }
  TX_DEVICE int index() const { return b_.thread() >> log(); }  // among the teams of the block

  // All of x combined, the same for every lane: always the same tree. All teams of the block must come here. `room`: a
  // number of up to 8 bytes for each warp, in shared memory.
  template <class Rule, class T>
  TX_DEVICE T combine(T x, std::byte* room) const {
    for (int mask = 1; mask < (size() < warp ? size() : warp); mask *= 2) {
      T const other = b_.exchange(x, mask);
      x = (lane() & mask) != 0 ? Rule::apply(other, x) : Rule::apply(x, other);
    }
    if (size() <= warp) return x;
    T* const of_warp = reinterpret_cast<T*>(room) + index() * (size() / warp);
    if (lane() % warp == 0) of_warp[lane() / warp] = x;
    b_.sync();
    x = of_warp[0];
    for (int w = 1; w < size() / warp; ++w) x = Rule::apply(x, of_warp[w]);
    b_.sync();
    return x;
  }

 private:
  static constexpr int known_log = log_of(Size);
  TX_DEVICE int log() const { return Size > 0 ? known_log : size_log_; }

  Block& b_;
  int size_log_;
};

// Numbered members, for packs of different types. The host fills them, the device reads them: constexpr functions are for both.
template <int K, class T>
struct slot {
  T x;
};
template <int K, class T>
constexpr T& get(slot<K, T>& s) {
  return s.x;
}
template <int K, class T>
constexpr T const& get(slot<K, T> const& s) {
  return s.x;
}

}  // namespace tx::backends::device
