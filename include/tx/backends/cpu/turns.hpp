// A helper whose processor others use too. Left to itself it is stopped in the middle of a share, for as long as another's turn lasts,
// and its caller waits; or it lands on its caller's processor, where it helps nobody. So it works for a millisecond and then rests for
// one between two shares, where others take their turn, and it leaves its caller's processor. The part of a processor that others get
// is what they had: the system shares it out as before. On a virtual machine the host stops threads too; a rest would not please it, so
// that only what the system itself took counts.
#pragma once

#include <tx/backends/cpu/processors.hpp>
#include <tx/backends/cpu/waiting.hpp>

namespace tx::backends::cpu {

// Of one helper.
class turns {
 public:
  // It comes from sleep: what it was not running until now does not count.
  void begin() { since_ = now(); }

  // When shares are to be left to others; 0: no time is too late.
  std::int64_t end() const { return end_; }
  // The same for work that is begun now: who had none for a while has rested.
  std::int64_t begin_work() {
    if (end_ == 0) return 0;
    std::int64_t const wall = nanoseconds_now();
    if (wall > until_) end_ = 0;
    else if (wall > end_) end_ = wall + length;
    return end_;
  }

  // Some work is done. caller: the processor of whom it was for.
  void worked(int caller) {
    std::int64_t const wall = nanoseconds_now();
    if (wall - since_.wall > length) look_for_neighbours();
    if (end_ == 0) return;
    if (wall > until_) {  // they may be gone
      end_ = 0;
    } else if (caller >= 0 && caller == processor_now()) {
      leave_processor(caller);
      end_ = nanoseconds_now() + length;
    } else if (wall > end_) {
      rest();
      begin();
      end_ = since_.wall + length;
    }
  }

 private:
  static constexpr std::int64_t length = 1'000'000;  // nanoseconds of a turn, and of the rest after it
  static constexpr int enough = 3;                    // times stopped, each so close to the one before, tell of a neighbour
  static constexpr std::int64_t close = 20'000'000;
  static constexpr std::int64_t shortest = 50'000'000, longest = 200'000'000;  // before it is tried without turns again

  struct moment {
    std::int64_t wall = 0, worked = 0;
    long preempted = 0;  // how often the system has given the processor to another, where it says
  };
  static moment now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return {nanoseconds_now(), std::int64_t{t.tv_sec} * 1000000000 + t.tv_nsec, times_preempted()};
  }

  void look_for_neighbours() {
    moment const here = now();
    std::int64_t const stopped = (here.wall - since_.wall) - (here.worked - since_.worked);
    bool const for_another = here.preempted != since_.preempted;
    since_ = here;
    if (stopped < length / 2 || !for_another) return;
    times_ = here.wall - stopped_at_ < close ? times_ + 1 : 1;
    stopped_at_ = here.wall;
    if (times_ < enough) return;  // the system itself stops a thread now and then
    if (end_ == 0) end_ = here.wall + length;
    // Those who are found again soon stay longer.
    lasts_ = here.wall - until_ < shortest ? (2 * lasts_ < longest ? 2 * lasts_ : longest) : shortest;
    until_ = here.wall + lasts_;
  }

  static void rest() {
    timespec const t{0, length};
    nanosleep(&t, nullptr);
  }

  moment since_{};
  std::int64_t stopped_at_ = 0;
  int times_ = 0;
  std::int64_t end_ = 0;               // of the present turn, where there are neighbours
  std::int64_t until_ = 0, lasts_ = shortest;  // how long they are believed in
};

}  // namespace tx::backends::cpu
