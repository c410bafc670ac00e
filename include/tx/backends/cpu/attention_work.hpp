// How the work of attention is cut into shares: units follow each other, text by text, and a share has those that begin in its stretch of their
// cost. A unit's result depends on nothing but its text, so the cut changes no bit.
#pragma once

#include <tx/backends/cpu/attention_scores.hpp>

namespace tx::backends::cpu::detail {

struct work_range {
  std::int64_t first, end;

  bool has(std::int64_t at) const { return first <= at && at < end; }
};

// body(view of a text, the stretch of its cost that the share has), for each text that the share has a part of.
template <class T, class Cost, class Body>
void for_texts(int share, int share_count, attention_problem<T> const& p, Cost cost, Body body) {
  attention_sizes const& s = p.sizes;
  if (s.texts == 0) return;
  bool const alike = p.query_offsets == nullptr;
  auto const view = [&](std::int64_t t) { return attention_view<T>{p, text_of(p, t)}; };
  std::int64_t const each = alike ? cost(view(0)) : 0;
  std::int64_t total = alike ? each * s.texts : 0;
  if (!alike)
    for (std::int64_t t = 0; t < s.texts; ++t) total += cost(view(t));
  work_range const mine{total * share / share_count, total * (share + 1) / share_count};
  for (std::int64_t t = 0, at = 0; t < s.texts && at < mine.end; ++t) {
    std::int64_t const of_text = alike ? each : cost(view(t));
    if (at + of_text > mine.first) body(view(t), work_range{mine.first - at, mine.end - at});
    at += of_text;
  }
}

// body(first, end): rows before and behind all packed texts, and those that one has beyond the longest it may be.
template <class Body>
void for_rows_of_no_text(i32 const* offsets, std::int64_t texts, std::int64_t longest, std::int64_t rows, Body body) {
  if (offsets == nullptr) return;
  std::int64_t end = 0;
  for (std::int64_t t = 0; t < texts; ++t) {
    std::int64_t const start = std::clamp<std::int64_t>(offsets[t], 0, rows), next = std::clamp<std::int64_t>(offsets[t + 1], 0, rows);
    if (start > end) body(end, start);
    end = std::max(end, start + std::clamp<std::int64_t>(next - start, 0, longest));
  }
  if (end < rows) body(end, rows);
}

// What is not used so far of a share's scratch.
template <class S>
struct attention_room {
  S* at;
  S* take(std::int64_t n) {
    S* const here = at;
    at += n;
    return here;
  }
};

}  // namespace tx::backends::cpu::detail
