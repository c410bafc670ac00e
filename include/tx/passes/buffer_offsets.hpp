// The arena: every buffer gets an offset so that buffers alive at one time do not overlap.
//
//   a: 64 bytes, moments 0 to 2; b: 32 bytes, moments 1 to 1; c: 32 bytes, moments 2 to 3
//   a at 0, b at 64, c at 64: 96 bytes, as many as are alive at moment 1
#pragma once

#include <tx/core/vec.hpp>

namespace tx::passes {

// Alive from moment `first` to moment `last` of the timeline (plan/timeline.hpp), both included.
struct buffer {
  std::int64_t bytes = 0;
  int first = 0;
  int last = 0;
  std::int64_t offset = 0;
};

// The largest sum of bytes alive at one moment: no plan can be smaller.
constexpr std::int64_t largest_live(vec<buffer> const& buffers, int steps) {
  vec<std::int64_t> change(steps + 2, 0);
  for (buffer const& b : buffers) {
    change[b.first] += b.bytes;
    change[b.last + 1] -= b.bytes;
  }
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (std::int64_t c : change) {
    now += c;
    if (now > most) most = now;
  }
  return most;
}

namespace detail {

// Places buffers in the given order, each at the lowest offset free for its whole life. Returns the size of the arena.
// Those placed form a list by offset, over plain arrays: these loops are the longest of all passes.
constexpr std::int64_t first_fit(vec<buffer>& buffers, vec<int> const& order) {
  int const count = buffers.size();
  vec<int> firsts(count, 0), lasts(count, 0), nexts(count, -1);
  vec<std::int64_t> begins(count, 0), ends(count, 0);
  int* const first = firsts.data();
  int* const last = lasts.data();
  int* const next = nexts.data();
  std::int64_t* const begin = begins.data();
  std::int64_t* const end = ends.data();
  int head = -1;
  std::int64_t size = 0;
  for (int id : order) {
    buffer& b = buffers[id];
    if (b.bytes == 0) continue;
    int const from = b.first;
    int const to = b.last;
    std::int64_t const bytes = b.bytes;
    std::int64_t at = 0;
    for (int k = head; k >= 0; k = next[k]) {
      if (last[k] < from || to < first[k]) continue;
      if (begin[k] >= at + bytes) break;  // the gap before it is large enough
      if (end[k] > at) at = end[k];
    }
    b.offset = at;
    first[id] = from;
    last[id] = to;
    begin[id] = at;
    end[id] = at + bytes;
    if (end[id] > size) size = end[id];
    int before = -1;
    for (int k = head; k >= 0 && begin[k] < at; k = next[k]) before = k;
    next[id] = before < 0 ? head : next[before];
    (before < 0 ? head : next[before]) = id;
  }
  return size;
}

}  // namespace detail

// First fit in three orders, of which the smallest arena is taken: bytes, bytes times lifetime, lifetime, each descending
// (Pisarchyk and Lee, arXiv 2001.03288, compare such orders). live: largest_live() of the buffers; within a hundredth of it
// no other order is tried.
constexpr std::int64_t assign_offsets(vec<buffer>& buffers, std::int64_t live) {
  vec<buffer> best{};
  std::int64_t smallest = 0;
  for (int rule = 0; rule < 3; ++rule) {
    vec<std::int64_t> weight{};
    vec<int> order{};
    for (int i = 0; i < buffers.size(); ++i) {
      std::int64_t const life = buffers[i].last - buffers[i].first + 1;
      order.push_back(i);
      weight.push_back(rule == 0 ? buffers[i].bytes : rule == 1 ? buffers[i].bytes * life : life);
    }
    stable_sort(order, [&](int a, int b) { return weight[a] > weight[b]; });
    std::int64_t const size = detail::first_fit(buffers, order);
    if (best.empty() || size < smallest) {
      smallest = size;
      best = buffers;
    }
    if (100 * smallest <= 101 * live) break;
  }
  buffers = best;
  return smallest;
}

}  // namespace tx::passes
