// When an access to memory was, and whether it is ordered before another: time goes on at each launch, barrier of a
// block and meeting of a warp.
#pragma once

#include "handovers.hpp"

#include <cstdint>
#include <string>

namespace ptx {

class clock {
 public:
  std::uint32_t tick() { return ++now_; }
  std::uint32_t now() const { return now_; }

 private:
  std::uint32_t now_ = 1;
};

// An access by one thread.
struct moment {
  std::uint32_t who = 0;  // block << 10 | thread
  std::uint32_t now = 0;
  std::uint32_t launch_since = 0, block_since = 0;  // what was before is ordered before it: everywhere, in its block
  std::uint32_t const* lane_since = nullptr;        // [32]: the same for each lane of its warp
  std::uint32_t line = 0;                           // of PTX
  known_blocks const* others = nullptr;             // of other blocks: what its block was handed
};

enum class use { read, write, atomic };

// What is known of a byte of memory: who wrote and who read it last, and when.
struct record {
  static constexpr std::uint32_t nobody = 0xfffffffeu;     // of this program's: the host, or time 0
  static constexpr std::uint32_t many_threads = 1u << 31;  // more than one of the same warp
  static constexpr std::uint32_t many_warps = 1u << 30;    // of the same block
  static constexpr std::uint32_t many_blocks = 0xffffffffu;
  static constexpr std::uint32_t most_blocks = 1u << 20;  // that `who` has room for

  struct access {
    std::uint32_t when = 0, who = nobody, line = 0;
  };
  access written, read;                        // written.when: 0, if never
  bool atomically = false, in_flight = false;  // the last write; a copy that was not waited for

  // Nothing if the access is in order, else what is wrong with it.
  char const* note(moment const& m, use how) {
    if (in_flight) return "a copy into it is not waited for";
    if (how != use::write && written.when == 0) return "it was never written";
    bool const after_write = ordered(written, m);
    if (!after_write && !(atomically && how == use::atomic))
      return how == use::read ? "another thread wrote it and no barrier is between"
                              : "another thread writes it too and no barrier is between";
    if (how == use::read) {
      join(read, m);
      return nullptr;
    }
    if (!ordered(read, m)) return "another thread reads it and no barrier is between";
    if (after_write) written.who = nobody;
    join(written, m);
    atomically = how == use::atomic;
    return nullptr;
  }

  std::string last() const { return "written by " + name(written) + ", read by " + name(read); }

 private:
  static std::string name(access const& a) {
    if (a.who == nobody) return "nobody of a kernel";
    std::string const at = " at line " + std::to_string(a.line), in = " of block " + std::to_string(block_of(a.who));
    if (a.who == many_blocks) return "many blocks" + at;
    if ((a.who & many_warps) != 0) return "many warps" + in + at;
    if ((a.who & many_threads) != 0) return "many threads of warp " + std::to_string(warp_of(a.who)) + in + at;
    return "thread " + std::to_string(a.who & 1023u) + in + at;
  }
  static constexpr std::uint32_t block_of(std::uint32_t who) { return (who & 0x3fffffffu) >> 10; }
  static constexpr std::uint32_t warp_of(std::uint32_t who) { return (who & 1023u) / 32; }

  static bool ordered(access const& a, moment const& m) {
    if (a.who == nobody || a.when < m.launch_since) return true;
    if (a.who == many_blocks) return false;
    if (block_of(a.who) != block_of(m.who)) return m.others != nullptr && a.when < m.others->since(block_of(a.who));
    if (a.when < m.block_since) return true;
    if ((a.who & many_warps) != 0 || warp_of(a.who) != warp_of(m.who)) return false;
    if ((a.who & many_threads) == 0) return a.who == m.who || a.when < m.lane_since[a.who & 31u];
    for (std::uint32_t lane = 0; lane < 32; ++lane)  // any of them may be meant
      if (lane != (m.who & 31u) && a.when >= m.lane_since[lane]) return false;
    return true;
  }

  // One more thread, where those before are not ordered before it.
  static void join(access& a, moment const& m) {
    std::uint32_t const plain = m.who & 0x3fffffffu;
    if (ordered(a, m))
      a.who = m.who;
    else if (a.who == many_blocks || block_of(a.who) != block_of(m.who))
      a.who = many_blocks;
    else if ((a.who & many_warps) != 0 || warp_of(a.who) != warp_of(m.who))
      a.who = plain | many_warps;
    else
      a.who = plain | many_threads;
    a.when = m.now;
    a.line = m.line;
  }
};

}  // namespace ptx
