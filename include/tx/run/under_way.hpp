// Runs that were started and whose results nobody has taken: up to two, taken in the order in which they were started.
#pragma once

#include <tx/core/error.hpp>
#include <tx/run/extents.hpp>
#include <tx/run/staging.hpp>

namespace tx::exec {

class runs_under_way {
 public:
  struct one {
    int slot;
    run_extents extents;
  };

  int count() const { return count_; }
  // The slot of the run that is started next, once it is.
  int next_slot() const { return count_ == 0 ? 0 : 1 - first_; }
  void started(int slot, run_extents const& extents) {
    if (++count_ == 1) first_ = slot;
    extents_[slot] = extents;
  }
  // The first of them, which is no longer one.
  one take() {
    if (count_ == 0) throw value_error("executor: no run was started whose results are to be taken. FIX: start(...) before finish()");
    --count_;
    int const slot = first_;
    first_ = 1 - slot;
    return {slot, extents_[slot]};
  }
  void check_none() const {
    if (count_ > 0) throw value_error("executor: a run that was started has results that nobody has taken. FIX: finish() before a run that hands back its own");
  }
  void check_room() const {
    if (count_ == most_under_way) throw value_error("executor: two runs were started whose results nobody has taken. FIX: finish() before a third one");
  }

 private:
  int count_ = 0, first_ = 0;
  run_extents extents_[most_under_way]{};  // of each slot's run
};

}  // namespace tx::exec
