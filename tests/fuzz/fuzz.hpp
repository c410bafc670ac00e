// What the targets share: a check that aborts, and what a refusal must be like.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/utf8.hpp>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace fuzz {

inline void require(bool good) {
  if (!good) std::abort();
}

inline std::string text_of(std::uint8_t const* data, std::size_t size) {
  return {reinterpret_cast<char const*>(data), size};
}

// Fit for a terminal and a log: UTF-8 without control characters, of a length that does not follow the input's.
inline void require_printable(std::string_view message) {
  require(message.size() < 1000 && tx::io::is_utf8(message));
  for (std::size_t i = 0; i < message.size();) {  // no control characters, of one byte or of two
    tx::io::code_point const c = tx::io::decode_utf8(message, i);
    require(c.value >= 0x20 && !(c.value >= 0x7F && c.value < 0xA0));
    i += static_cast<std::size_t>(c.length);
  }
}

// What f returns for a source that is called "fuzz"; nothing where it is refused, with a message that names the source.
template <class F>
auto unless_refused(F f) -> std::optional<decltype(f())> {
  try {
    return f();
  } catch (tx::format_error const& e) {
    std::string_view const message = e.what();
    require(message.starts_with("fuzz"));
    require_printable(message);
    return std::nullopt;
  }
}

}  // namespace fuzz
