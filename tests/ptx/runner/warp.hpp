// A warp's threads, which run a kernel's instructions together: those at the same instruction are one group, and of
// groups that may go on the one furthest behind does, so that lanes that parted meet again where their ways do.
#pragma once

#include "clock.hpp"
#include "module.hpp"
#include "pace.hpp"

#include <bit>
#include <vector>

namespace ptx {

class block;

// f(lane) for each of them, in order.
template <class F>
void each(lanes m, F&& f) {
  if (m == all_lanes) {
    for (int l = 0; l < warp_size; ++l) f(l);
  } else {
    for (; m != 0; m &= m - 1) f(std::countr_zero(m));
  }
}

class warp {
 public:
  warp(block& b, int number) : of(b), number_(number) {}

  // Ready to run the block's kernel from its beginning, with so many threads.
  void begin(int threads);
  // Goes on until every thread waits at a barrier of the block or has ended.
  void run();

  bool ended() const { return groups_.empty(); }
  // Of threads that wait at the same barrier the instruction, else -1.
  int waits_at() const { return groups_.size() == 1 && groups_[0].waits ? groups_[0].pc : -1; }
  bool all_are_there() const { return groups_.size() == 1 && groups_[0].mask == begun_; }  // none has ended
  void go_on();                                                                            // past the barrier

  template <class T>
  T* at(slot s) {
    return reinterpret_cast<T*>(file_.data() + s.at);
  }
  lanes& predicate(slot s) { return *at<lanes>(s); }
  // The first bytes of a lane of a register that may be wider than T, and what becomes of the register: T's value with
  // zeros or its sign.
  template <class T>
  T narrow(slot s, int lane) const {
    T x;
    std::memcpy(&x, file_.data() + s.at + lane * s.width, sizeof x);
    return x;
  }
  template <class T>
  void widen(slot s, int lane, T x);

  // [at, +bytes) of a lane's own memory, checked.
  std::byte* local_at(int lane, std::uint64_t at, int bytes, use how);
  int thread(int lane) const { return number_ * warp_size + lane; }
  std::byte* local(int lane) { return local_.data() + static_cast<std::size_t>(lane) * local_bytes_; }
  std::size_t local_bytes() const { return local_bytes_; }
  instruction const* running() const { return running_; }

  block& of;
  pace::clock pace_clock;

 private:
  struct group {
    int pc = 0;
    lanes mask = 0;
    bool waits = false;  // at a meeting of lanes or a barrier, for others
  };

  group* next();
  void step(group& g, int until);
  void pace_of(instruction const& i, lanes m);
  bool meets(group const& g, instruction const& i) const;
  void meet(group const& g, instruction const& i);
  void merge();
  void part(group& g, lanes meant);
  void fill_constants();

  int number_;
  lanes begun_ = 0, living_ = 0;
  std::vector<std::byte> file_, local_;
  std::vector<bool> local_written_;
  std::size_t local_bytes_ = 0;
  std::vector<group> groups_;
  instruction const* running_ = nullptr;
  std::uint32_t ready_for_ = 0;  // the launch that its memory is laid out for, by when that began
};

template <class T>
void warp::widen(slot s, int lane, T x) {
  std::byte* const to = file_.data() + s.at + lane * s.width;
  if constexpr (std::is_integral_v<T>) {
    auto const wide =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(x)) &
        (std::is_signed_v<T> ? ~std::uint64_t{0} : static_cast<std::uint64_t>(std::make_unsigned_t<T>(~T{0})));
    std::memcpy(to, &wide, static_cast<std::size_t>(s.width));  // little-endian, as the devices are
  } else {
    std::memset(to, 0, static_cast<std::size_t>(s.width));
    std::memcpy(to, &x, sizeof x);
  }
}

}  // namespace ptx
