// The arena: every buffer gets an offset so that buffers alive at one time do not overlap.
#pragma once

#include <tx/core/vec.hpp>

namespace tx::passes {

// Alive from step `first` to step `last`, both included.
struct buffer {
  std::int64_t bytes = 0;
  int first = 0;
  int last = 0;
  std::int64_t offset = 0;
};

constexpr std::int64_t align_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

// The largest sum of bytes alive at one step: no plan can be smaller.
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
// What is placed lies in plain arrays by offset: this loop is the longest of all passes.
constexpr std::int64_t first_fit(vec<buffer>& buffers, vec<int> const& order) {
  int const count = buffers.size();
  vec<int> firsts(count, 0), lasts(count, 0);
  vec<std::int64_t> begins(count, 0), ends(count, 0);
  int* const first = firsts.data();
  int* const last = lasts.data();
  std::int64_t* const begin = begins.data();
  std::int64_t* const end = ends.data();
  int placed = 0;
  std::int64_t size = 0;
  for (int id : order) {
    buffer& b = buffers[id];
    if (b.bytes == 0) continue;
    int const from = b.first;
    int const to = b.last;
    std::int64_t at = 0;
    for (int k = 0; k < placed; ++k) {
      if (last[k] < from || to < first[k]) continue;
      if (begin[k] >= at + b.bytes) break;  // the gap before it is large enough
      if (end[k] > at) at = end[k];
    }
    b.offset = at;
    int k = placed++;
    for (; k > 0 && begin[k - 1] > at; --k) {
      first[k] = first[k - 1];
      last[k] = last[k - 1];
      begin[k] = begin[k - 1];
      end[k] = end[k - 1];
    }
    first[k] = from;
    last[k] = to;
    begin[k] = at;
    end[k] = at + b.bytes;
    if (end[k] > size) size = end[k];
  }
  return size;
}

}  // namespace detail

// Largest first, or longest-lived first, whichever needs less (Pisarchyk and Lee, arXiv 2001.03288, compare such orders).
// live: largest_live() of the buffers; the first order that needs no more is taken.
constexpr std::int64_t assign_offsets(vec<buffer>& buffers, std::int64_t live) {
  vec<int> by_size{};
  for (int i = 0; i < buffers.size(); ++i) by_size.push_back(i);
  vec<int> by_life = by_size;
  stable_sort(by_size, [&](int a, int b) { return buffers[a].bytes > buffers[b].bytes; });
  std::int64_t const first = detail::first_fit(buffers, by_size);
  if (first <= live) return first;
  stable_sort(by_life, [&](int a, int b) {
    int const la = buffers[a].last - buffers[a].first;
    int const lb = buffers[b].last - buffers[b].first;
    return la != lb ? la > lb : buffers[a].bytes > buffers[b].bytes;
  });
  vec<buffer> other = buffers;
  std::int64_t const second = detail::first_fit(other, by_life);
  if (first <= second) return first;
  buffers = other;
  return second;
}

}  // namespace tx::passes
