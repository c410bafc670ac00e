// Runs device tasks on the host: a block's threads are contexts that take turns at the points where they meet. A thread runs
// until it meets others, so what one reads of another before they met is not there yet, and threads that meet at different
// points, or not all of them, are an error.
#pragma once

#include <tx/backends/cuda/target.hpp>
#include <tx/backends/device/whole_kernels.hpp>

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

namespace interpreter {

namespace device = tx::backends::device;

// What threads meet for.
enum class meeting : std::uint8_t { none, block, warp, wavefront, done };

class block_of_threads {
 public:
  static constexpr std::size_t stack = 512 << 10;  // what a product keeps in registers is on it, and much more of it with sanitizers

  // Runs body(thread) for each thread; `reversed`: the last thread of a block goes first.
  template <class Body>
  void run(int threads, bool reversed, Body const& body) {
    if (static_cast<std::size_t>(threads) > contexts_.size()) grow(static_cast<std::size_t>(threads));
    meets_.assign(static_cast<std::size_t>(threads), meeting::none);
    body_ = [](void const* b, int thread) { (*static_cast<Body const*>(b))(thread); };
    body_data_ = &body;
    for (int t = 0; t < threads; ++t) {
      ucontext_t& c = contexts_[static_cast<std::size_t>(t)];
      getcontext(&c);
      c.uc_stack.ss_sp = stacks_[static_cast<std::size_t>(t)].get();
      c.uc_stack.ss_size = stack;
      c.uc_link = nullptr;
      makecontext(&c, &entry, 0);
    }
    for (bool going = true; going;) {
      for (int i = 0; i < threads; ++i) turn(reversed ? threads - 1 - i : i);
      going = false;
      bool const all = gathered(0, threads, meeting::block);
      bool by_wavefront = false;
      for (int w = 0; w < threads; w += device::warp) {
        if (w % device::wavefront == 0) by_wavefront = w + device::wavefront <= threads && gathered(w, device::wavefront, meeting::wavefront);
        bool const together = all || by_wavefront || gathered(w, device::warp, meeting::warp);
        bool const done = gathered(w, device::warp, meeting::done);
        if (together)
          for (int t = w; t < w + device::warp; ++t) meets_[static_cast<std::size_t>(t)] = meeting::none;
        going = going || together;
        if (!together && !done && !gathered(w, device::warp, meeting::block) && !gathered(w, device::warp, meeting::wavefront)) throw std::logic_error("threads of a warp meet at different points");
      }
      if (!going && !gathered(0, threads, meeting::done)) throw std::logic_error("threads of a block meet at different points");
    }
  }

  // Called by a thread: waits for the others.
  void meet(meeting at) {
    auto const t = static_cast<std::size_t>(current_);
    meets_[t] = at;
    swapcontext(&contexts_[t], &main_);
  }

 private:
  void grow(std::size_t threads) {
    contexts_.resize(threads);
    while (stacks_.size() < threads) stacks_.push_back(std::make_unique_for_overwrite<char[]>(stack));
  }
  bool gathered(int first, int count, meeting at) const {
    for (int t = first; t < first + count; ++t)
      if (meets_[static_cast<std::size_t>(t)] != at) return false;
    return true;
  }
  void turn(int thread) {
    if (meets_[static_cast<std::size_t>(thread)] != meeting::none) return;
    current_ = thread;
    running() = this;
    swapcontext(&main_, &contexts_[static_cast<std::size_t>(thread)]);
  }
  static block_of_threads*& running() {
    static thread_local block_of_threads* r = nullptr;
    return r;
  }
  static void entry() {
    block_of_threads& me = *running();
    me.body_(me.body_data_, me.current_);
    me.meet(meeting::done);
  }

  std::vector<ucontext_t> contexts_;
  std::vector<std::unique_ptr<char[]>> stacks_;
  std::vector<meeting> meets_;
  ucontext_t main_{};
  void (*body_)(void const*, int) = nullptr;
  void const* body_data_ = nullptr;
  int current_ = 0;
};

// A copy that has been asked for: it happens when its thread waits for it.
struct pending_copy {
  std::byte* to;
  std::byte const* from;
  int bytes;
};

// What device code sees of its block.
struct host_block {
  block_of_threads& all;
  std::byte* room;
  std::uint64_t* exchanged;  // a number per thread
  int thread_, threads_, block_, blocks_;
  std::vector<std::vector<pending_copy>> copies = std::vector<std::vector<pending_copy>>(1);  // groups that nobody has waited for, and the one that has not ended

  int thread() const { return thread_; }
  int threads() const { return threads_; }
  int block() const { return block_; }
  int blocks() const { return blocks_; }
  std::byte* shared() const { return room; }
  void sync() const { all.meet(meeting::block); }
  void sync_warp() const { all.meet(meeting::warp); }
  std::uint32_t ballot(bool x) const {
    auto const all_of_them = of_warp(x ? 1 : 0);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < device::warp; ++k) bits |= static_cast<std::uint32_t>(all_of_them[k]) << k;
    return bits;
  }
  float exp2(float x) const { return x < -126 ? 0 : std::exp2(x); }
  bool last_of(std::uint32_t* count, int blocks) const {
    sync();
    if (thread_ == 0) {
      exchanged[0] = ++*count == static_cast<std::uint32_t>(blocks);
      if (exchanged[0] != 0) *count = 0;
    }
    sync();
    bool const last = exchanged[0] != 0;
    sync();
    return last;
  }
  template <class T>
  T exchange(T x, int mask) const {
    std::memcpy(&exchanged[thread_], &x, sizeof x);
    sync_warp();
    std::memcpy(&x, &exchanged[thread_ ^ mask], sizeof x);
    sync_warp();
    return x;
  }

  void copy(std::byte* to, std::byte const* from, int bytes) {
    if (reinterpret_cast<std::uintptr_t>(to) % 16 != 0 || (bytes != 0 && reinterpret_cast<std::uintptr_t>(from) % 16 != 0) || bytes < 0 || bytes > 16)
      throw std::logic_error("a copy of 16 bytes that are not aligned");
    copies.back().push_back({to, from, bytes});
  }
  void end_copies() { copies.emplace_back(); }
  template <int N>
  void wait_copies() {
    while (copies.size() > N + 1) {
      for (pending_copy const& c : copies.front()) {
        std::memset(c.to, 0, 16);
        if (c.bytes > 0) std::memcpy(c.to, c.from, static_cast<std::size_t>(c.bytes));
      }
      copies.erase(copies.begin());
    }
  }
  template <bool Transposed>
  device::matrices load_matrices(std::byte const* row) const {
    auto const rows = of_warp(reinterpret_cast<std::uint64_t>(row));
    int const lane = thread_ % device::warp, major = lane / 4, minor = lane % 4 * 2;
    device::matrices m{};
    for (int k = 0; k < 4; ++k) {
      std::uint16_t two[2];
      for (int i = 0; i < 2; ++i) {
        int const r = Transposed ? minor + i : major, c = Transposed ? major : minor + i;
        std::memcpy(&two[i], reinterpret_cast<std::byte const*>(rows[static_cast<std::size_t>(8 * k + r)]) + 2 * c, 2);
      }
      std::memcpy(&m.part[k], two, 4);
    }
    return m;
  }
  template <tx::dtype D>
  void add_product(float (&sum)[4], device::matrices const& left, std::uint32_t low, std::uint32_t high) const {
    auto const pair = [](std::uint32_t a, std::uint32_t b) { return a | std::uint64_t{b} << 32; };
    auto const first = of_warp(pair(left.part[0], left.part[1])), second = of_warp(pair(left.part[2], left.part[3])), right = of_warp(pair(low, high));
    int const lane = thread_ % device::warp;
    for (int i = 0; i < 4; ++i) {
      int const row = lane / 4, lower_half = i / 2, col = lane % 4 * 2 + i % 2;
      for (int k = 0; k < 16; ++k) {
        auto const& half = k < 8 ? first : second;
        sum[i] += element<D>(half[static_cast<std::size_t>(row * 4 + k % 8 / 2)], lower_half, k % 2) * element<D>(right[static_cast<std::size_t>(col * 4 + k % 8 / 2)], k / 8, k % 2);
      }
    }
  }
  template <tx::dtype D>
  void add_wavefront_product(float (&sum)[4], std::uint32_t const (&left)[2], std::uint32_t const (&right)[2]) const {
    auto const lefts = of_lanes<device::wavefront>(left[0] | std::uint64_t{left[1]} << 32), rights = of_lanes<device::wavefront>(right[0] | std::uint64_t{right[1]} << 32);
    int const lane = thread_ % device::wavefront;
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 16; ++k) {
        auto const of = static_cast<std::size_t>(k / 4 * 16);
        sum[i] += element<D>(lefts[of + static_cast<std::size_t>(lane / 16 * 4 + i)], k % 4 / 2, k % 2) * element<D>(rights[of + static_cast<std::size_t>(lane % 16)], k % 4 / 2, k % 2);
      }
  }

 private:
  // What each lane of the warp, or of the wavefront, has given.
  template <int Lanes>
  std::array<std::uint64_t, Lanes> of_lanes(std::uint64_t mine) const {
    auto const together = [this] { all.meet(Lanes == device::warp ? meeting::warp : meeting::wavefront); };
    exchanged[thread_] = mine;
    together();
    std::array<std::uint64_t, Lanes> all_of_them{};
    std::copy_n(exchanged + thread_ / Lanes * Lanes, Lanes, all_of_them.begin());
    together();
    return all_of_them;
  }
  std::array<std::uint64_t, device::warp> of_warp(std::uint64_t mine) const { return of_lanes<device::warp>(mine); }
  // Of a pair of registers that hold two halves each.
  template <tx::dtype D>
  static float element(std::uint64_t pair, int word, int half) {
    auto const bits = static_cast<std::uint16_t>(pair >> (32 * word + 16 * half));
    return std::bit_cast<tx::element_t<D>>(bits).widen();
  }
};

struct host_device {
  static constexpr device::matrix_units units = device::matrix_units::of_warps;
  static inline bool reversed = false;  // order of threads and blocks
  static inline thread_local std::int64_t launches = 0;

  template <class Task>
  static void launch(int blocks, int threads, std::int64_t shared_bytes, typename Task::arguments const& a) {
    static_assert(std::is_trivially_copyable_v<typename Task::arguments> && sizeof(a) <= device::most_arguments);
    if (blocks < 1 || threads < device::warp || threads > Task::threads || threads % device::warp != 0)
      throw std::logic_error("a launch of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads");
    if (shared_bytes > device::most_block_memory) throw std::logic_error("too much shared memory is asked for");
    static thread_local block_of_threads all;
    std::vector<std::uint64_t> exchanged(static_cast<std::size_t>(threads));
    for (int i = 0; i < blocks; ++i) {
      int const b = reversed ? blocks - 1 - i : i;
      // Fresh, and not zero: what a kernel reads without having written it shows.
      std::vector<std::byte> shared(static_cast<std::size_t>(shared_bytes), std::byte{0xff});
      all.run(threads, reversed, [&](int thread) {
        host_block me{all, shared.data(), exchanged.data(), thread, threads, b, blocks};
        Task::run(me, a);
      });
    }
    ++launches;
  }
  static void clear(std::byte* to, std::int64_t count) { std::memset(to, 0, static_cast<std::size_t>(count)); }
  static void copy(std::byte* to, std::byte const* from, std::int64_t count) { std::memcpy(to, from, static_cast<std::size_t>(count)); }
  static bool done() { return true; }
};

}  // namespace interpreter

// The device backend on the interpreter: a backend like any other, with memory of its own.
struct interpreted {
  static constexpr tx::target const& target = tx::cuda_target;
  using device = interpreter::host_device;
  template <class Signature>
  using kernel = tx::backends::device::kernel<interpreter::host_device, Signature>;

  static std::byte* allocate(std::int64_t count) {
    auto* const p = static_cast<std::byte*>(::operator new(static_cast<std::size_t>(count), std::align_val_t{tx::exec::alignment}));
    std::memset(p, 0xff, static_cast<std::size_t>(count));
    return p;
  }
  static void release(std::byte* p, std::int64_t) { ::operator delete(p, std::align_val_t{tx::exec::alignment}); }
  static int default_threads() { return 1; }
  static void check_machine() {}
  static void clear(std::byte* to, std::int64_t count) { interpreter::host_device::clear(to, count); }
  static void upload(std::byte* to, std::byte const* from, std::int64_t count) { std::memcpy(to, from, static_cast<std::size_t>(count)); }
  static void download(std::byte* to, std::byte const* from, std::int64_t count) { std::memcpy(to, from, static_cast<std::size_t>(count)); }
};
