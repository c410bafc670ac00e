// Bytes that a JSON file holds as text (RFC 4648).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tx::text::detail {

// Nothing where a text is not that: of whole groups of four, the last filled with =.
inline std::optional<std::string> bytes_of_base64(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t const filled = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t const value = i + filled < text.size() ? letters.find(text[i]) : 0;
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if (i % 4 != 3) continue;
    for (unsigned shift = 24; shift > 0; shift -= 8) out.push_back(static_cast<char>(static_cast<unsigned char>(bits >> (shift - 8) & 0xFF)));
    bits = 0;
  }
  std::uint32_t unused = 0;  // bits of the last letter that no byte has
  if (filled > 0) unused = static_cast<std::uint32_t>(letters.find(text[text.size() - filled - 1])) & (filled == 2 ? 0xFu : 0x3u);
  if (unused != 0) return std::nullopt;
  out.resize(out.size() - filled);
  return out;
}

}  // namespace tx::text::detail
