// Sets of code points as the tables of Unicode have them, and what is done with each.
#pragma once

#include <algorithm>
#include <span>

namespace tx::text::detail {

struct code_range {
  char32_t first, last;
};

template <class F>
void for_each_point(std::span<code_range const> ranges, F&& f) {
  for (code_range const& r : ranges)
    for (char32_t c = r.first; c <= r.last; ++c) f(c);
}

// Ranges stand in order.
inline bool contains(std::span<code_range const> ranges, char32_t c) {
  auto const at = std::ranges::lower_bound(ranges, c, {}, &code_range::last);
  return at != ranges.end() && at->first <= c;
}

}  // namespace tx::text::detail
