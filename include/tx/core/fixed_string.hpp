// Text as a template argument, and text known at compile time.
#pragma once

#include <tx/config.hpp>

#include <string_view>

namespace tx {

template <std::size_t N>
struct fixed_string {
  char text[N];

  constexpr fixed_string(char const (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

// FNV-1a: names become keys that do not depend on the order of addresses.
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t h = 14695981039346656037ull;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

}  // namespace tx
