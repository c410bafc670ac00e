// A block of threads and what they share.
#pragma once

#include "clock.hpp"
#include "device_memory.hpp"
#include "pace.hpp"
#include "warp.hpp"

#include <array>
#include <memory>

namespace ptx {

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  unsigned count() const { return x * y * z; }
};

// In which order what no rule orders is done: threads and blocks as they are numbered, or the other way round.
enum class order { forwards, backwards };

struct launch {
  kernel const* of = nullptr;
  module const* within = nullptr;
  std::map<std::string, std::byte*> const* variables = nullptr;
  dim3 grid, threads;
  int dynamic_shared = 0;  // bytes
  std::byte const* parameters = nullptr;
  order in = order::forwards;
  std::uint32_t began = 0;  // when
  pace* paced = nullptr;    // is told what each warp does, if there is one
  int without = -1;         // a barrier or wait by this number is left out: whether anything would notice
};

class block {
 public:
  block(device_memory& m, clock& c);

  // Runs the kernel for the block at this place of the grid.
  void run(launch const& how, dim3 place, std::uint32_t number);

  [[noreturn]] void fail(warp const& w, int lane, std::string const& what) const;

  // Memory as the kernel's addresses say it, checked: [address, +bytes) of a generic address, or of shared memory.
  std::byte* shared(warp& w, int lane, std::uint64_t address, int bytes, use how);
  std::byte* generic(warp& w, int lane, std::uint64_t address, int bytes, use how);
  std::byte* global(warp& w, int lane, std::uint64_t address, int bytes, use how,
                    int alignment = 0);  // 0: as many as there are bytes
  bool is_its_own(std::uint64_t generic) const { return generic - shared_base() < shared_.size(); }
  std::uint64_t shared_base() const { return reinterpret_cast<std::uint64_t>(shared_.data()); }

  // Copies that run beside their thread, and land when it waits for them.
  struct copy {
    std::uint32_t to;    // in shared memory
    std::uint64_t from;  // an address of global memory
    int bytes, real;     // what is read; zeros beyond
    std::array<std::byte, 16> read{};
  };
  void begin_copy(warp& w, int lane, copy c);
  void close_group(int thread);
  void wait_for_groups(warp& w, int lane, int but);

  launch const& how() const { return how_; }
  dim3 place() const { return place_; }
  // Who a record of an access names: of this block a thread.
  std::uint32_t who(int thread) const { return block_number_ << 10 | static_cast<std::uint32_t>(thread); }
  class clock& time;
  // A thread fences, or has changed a number of global memory atomically.
  void fence(warp const& w, int lane);
  void changed(warp const& w, int lane, std::byte const* at);
  // These lanes of a warp have met: what each did before is ordered before what the others do now.
  void met(int warp, lanes m);
  device_memory& memory() { return memory_; }

 private:
  void meet_in_time(std::size_t count);
  moment now(warp const& w, int lane) const;

  device_memory& memory_;
  launch how_{};
  dim3 place_{};
  std::uint32_t block_number_ = 0;
  std::vector<std::unique_ptr<warp>> warps_;
  std::vector<std::byte> shared_;
  std::vector<record> shared_records_;
  std::uint32_t block_since_ = 0;
  handovers handed_;
  std::uint32_t handed_in_ = 0;  // the launch that they are of, by when that began
  std::vector<std::array<std::array<std::uint32_t, warp_size>, warp_size>>
      lanes_since_;                                     // of a warp's lanes, two by two, when they last met
  std::vector<std::vector<std::vector<copy>>> copies_;  // of a thread: groups, the last one open
};

}  // namespace ptx
