// The shares of one piece of work, and who takes them. A thread takes a few neighbours at a time: first those of its own range, so
// that it stays where its caches are, then the last ones of others, so that a delayed thread delays no more than it has taken.
#pragma once

#include <tx/backends/cpu/processors.hpp>
#include <tx/backends/cpu/target.hpp>
#include <tx/backends/cpu/waiting.hpp>

#include <atomic>
#include <bit>
#include <cstdint>

namespace tx::backends::cpu {

class claims;

// Where a piece of work is announced. It outlives the work: a thread that comes late finds another number in `left`, or no shares,
// and touches nothing that belongs to the work itself.
struct alignas(64) work_slot {
  // Called with the first shares taken.
  using body = void (*)(void const* what, claims& mine) noexcept;

  static constexpr int share_bits = 16, helper_bits = 8;
  static_assert(shares == share_bits);
  static constexpr std::uint64_t all_shares = (1u << share_bits) - 1;
  static constexpr std::uint64_t one_helper = 1u << share_bits;
  static constexpr std::uint32_t asleep = 1u << 31;

  // A bit for each share that nobody has taken, how many threads help, the number of the work: one word, so that a share can only be
  // taken of the work that was meant.
  std::atomic<std::uint64_t> left{0};
  // Set before `left` and read before a share is taken: whoever gets one has read those of the same work.
  std::atomic<body> run{nullptr};
  std::atomic<void const*> what{nullptr};
  std::atomic<int> threads{0}, together{0};
  std::atomic<int> processor{-1};  // the caller's
  // Shares that helpers have finished; and whether the caller sleeps until there are more.
  alignas(64) std::atomic<std::uint32_t> done{0};

  static constexpr int helpers(std::uint64_t word) { return static_cast<int>(word >> share_bits & ((1u << helper_bits) - 1)); }
  static constexpr std::uint64_t number(std::uint64_t word) { return word >> (share_bits + helper_bits); }

  // Only the caller that has the slot may announce, and only when all shares of the work before are done.
  std::uint64_t announce(body f, void const* of, int among, int at_once) {
    std::uint64_t const next = number(left.load(std::memory_order_relaxed)) + 1;
    run.store(f, std::memory_order_relaxed);
    what.store(of, std::memory_order_relaxed);
    threads.store(among, std::memory_order_relaxed);
    together.store(at_once, std::memory_order_relaxed);
    processor.store(processor_now(), std::memory_order_relaxed);
    done.store(0, std::memory_order_relaxed);
    std::uint64_t const word = next << (share_bits + helper_bits) | all_shares;
    left.store(word, std::memory_order_release);
    return word;
  }
};

class claims {
 public:
  int first = 0, end = shares;  // the shares taken last

  // Of a thread that does everything, at once.
  claims() = default;
  // Of thread `index` of those that the work is for; `word` is `left` as it was when the work was found. The caller has index 0.
  claims(work_slot& slot, std::uint64_t word, int index, int threads, int together)
      : slot_(&slot), number_(work_slot::number(word)), together_(together) {
    int const begin = shares * index / threads, until = shares * (index + 1) / threads;
    own_ = (work_slot::all_shares >> (shares - (until - begin))) << begin;
  }

  // Takes shares [first, end), and says whether there were any left. Once there are none the work may be gone: a body returns then,
  // without another look at it.
  bool next() { return slot_ != nullptr && (until_ == 0 || nanoseconds_now() < until_) && take(slot_->left.load(std::memory_order_relaxed), 0); }
  // The same for a helper's first shares, which make it one of `most`. It takes none after `until`, in nanoseconds, if that is not 0.
  bool join(std::uint64_t word, int most, std::int64_t until) {
    until_ = until;
    return take(word, work_slot::one_helper, most);
  }

  int taken() const { return taken_; }

  // A helper goes before all shares are taken: it, or another one, may come again.
  void leave() {
    std::uint64_t word = slot_->left.load(std::memory_order_relaxed);
    while (work_slot::number(word) == number_ && !slot_->left.compare_exchange_weak(word, word - work_slot::one_helper, std::memory_order_relaxed)) {}
  }

 private:
  bool take(std::uint64_t word, std::uint64_t joins, int most = 0) {
    for (;;) {
      std::uint64_t const free = word & work_slot::all_shares;
      if (free == 0 || work_slot::number(word) != number_ || (joins != 0 && work_slot::helpers(word) >= most)) return false;
      std::uint64_t const mine = free & own_;
      int count = 1;
      if (mine != 0) {
        first = std::countr_zero(mine);
        int const row = std::countr_one(mine >> first);
        count = row < together_ ? row : together_;
      } else {
        first = static_cast<int>(std::bit_width(free)) - 1;
      }
      std::uint64_t const bits = ((std::uint64_t{1} << count) - 1) << first;
      if (slot_->left.compare_exchange_weak(word, (word & ~bits) + joins, std::memory_order_acq_rel, std::memory_order_acquire)) {
        end = first + count;
        taken_ += count;
        return true;
      }
    }
  }

  work_slot* slot_ = nullptr;
  std::uint64_t number_ = 0, own_ = 0;
  std::int64_t until_ = 0;
  int together_ = 0, taken_ = 0;
};

}  // namespace tx::backends::cpu
