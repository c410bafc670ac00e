// Patterns of names: whole names, in which * stands for any characters, or none.
//
//   "encoder.layer.*.bias" matches "encoder.layer.0.output.bias", not "encoder.layer.0.bias_scale"
#pragma once

#include <tx/config.hpp>

#include <string_view>

namespace tx::detail {

constexpr bool matches(std::string_view pattern, std::string_view name) {
  // Where the last * began to stand for characters, and how many so far: tried again with one more where the rest does not fit.
  std::size_t p = 0, n = 0, star = std::string_view::npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace tx::detail
