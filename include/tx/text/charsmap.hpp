// What SentencePiece's models make of characters before they look for pieces: its precompiled map of strings to strings. Four bytes are the size of
// a double array, whose units and the replacements follow; each replacement ends with a zero.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/utf8.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tx::text::detail {

class charsmap {
 public:
  struct match {
    std::size_t length = 0;  // of the string that is replaced; 0: none is
    std::string_view to{};
  };

  // Throws format_error that names `source` for what is no such map: whatever a text is, looking it up stays within the map, and ends after few bytes.
  charsmap(std::string_view bytes, std::string const& source) {
    auto const fail = [&](std::string const& what) { throw format_error(source + ": the precompiled_charsmap " + what); };
    if (bytes.size() < 4) fail("lacks its size");
    std::size_t const size = word(bytes, 0);
    if (size > bytes.size() - 4) fail("is cut off");
    if (size == 0 || size % 1024 != 0) fail("has an array that is not of blocks of 256 units");
    replacements_ = bytes.substr(4 + size);
    if (!io::is_utf8(replacements_)) fail("has replacements that are not UTF-8");
    units_.resize(size / 4);
    for (std::size_t i = 0; i < units_.size(); ++i) units_[i] = word(bytes, 4 + 4 * i);
    if (is_value(units_[0]) || ends_string(units_[0])) fail("has an array without a root");
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (is_value(units_[i])) continue;
      std::size_t const children = i ^ offset(units_[i]);
      if ((children | 0xFF) >= units_.size()) fail("has a unit whose children lie beyond it");
      if (!ends_string(units_[i])) continue;
      std::size_t const value = units_[children] & 0x7FFFFFFF;
      if (!is_value(units_[children]) || value >= replacements_.size() || (static_cast<unsigned char>(replacements_[value]) & 0xC0) == 0x80)
        fail("has a string without a replacement");
    }
    if (!ends_within(longest_string)) fail("has a string of more than " + std::to_string(longest_string) + " bytes, or of any number");
    for (std::size_t c = 0; c < ascii_.size(); ++c) {
      char const one = static_cast<char>(c);
      ascii_[c] = value_of_first({&one, 1}).value_or(none);
    }
  }

  // What the shortest string of the map that begins a text becomes.
  std::optional<std::string_view> shortest(std::string_view text) const {
    auto const value = value_of_first(text);
    return value ? std::optional(replacement(*value)) : std::nullopt;
  }
  // Of one character of ASCII.
  std::optional<std::string_view> of_ascii(unsigned char c) const { return ascii_[c] == none ? std::nullopt : std::optional(replacement(ascii_[c])); }
  // The longest string of the map that begins a text.
  match longest(std::string_view text) const {
    match out;
    walk(text, [&](std::size_t length, std::uint32_t value) {
      out = {length, replacement(value)};
      return true;
    });
    return out;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::size_t longest_string = 255;

  static std::uint32_t word(std::string_view bytes, std::size_t at) {
    std::uint32_t out = 0;
    for (std::size_t i = 4; i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes[at + i]);
    return out;
  }
  // A unit is a value, whose highest bit is set, or has a label in the lowest byte and says how far away children are.
  static bool is_value(std::uint32_t unit) { return unit >> 31 != 0; }
  static bool ends_string(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
  static std::size_t offset(std::uint32_t unit) { return std::size_t{unit >> 10} << ((unit & 0x200) >> 6); }

  // Whether all strings are of `most` bytes or less; units may be shared by strings that end alike.
  bool ends_within(std::size_t most) const {
    constexpr std::uint32_t nothing = UINT32_MAX;
    std::vector<std::uint32_t> first(units_.size(), nothing), next(units_.size(), nothing);  // lists of units, by the place that they lie at but for their label
    for (std::size_t i = 0; i < units_.size(); ++i) {
      std::size_t const label = units_[i] & 0xFF;
      if (is_value(units_[i]) || label == 0) continue;
      next[i] = std::exchange(first[i ^ label], static_cast<std::uint32_t>(i));
    }
    std::vector<std::size_t> now{offset(units_[0])}, longer, seen(units_.size(), 0);  // places of what follows strings of so many bytes
    for (std::size_t bytes = 1; !now.empty(); ++bytes) {
      longer.clear();
      for (std::size_t const place : now)
        for (std::uint32_t unit = first[place]; unit != nothing; unit = next[unit])
          if (std::size_t const behind = unit ^ offset(units_[unit]); std::exchange(seen[behind], bytes) != bytes) longer.push_back(behind);
      if (bytes > most && !longer.empty()) return false;
      std::swap(now, longer);
    }
    return true;
  }
  // Calls each(length, value) for strings that begin the text, the shortest first, until it returns false.
  template <class Each>
  void walk(std::string_view text, Each&& each) const {
    std::size_t at = offset(units_[0]);
    for (std::size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
      auto const byte = static_cast<unsigned char>(text[i]);
      at ^= byte;
      std::uint32_t const unit = units_[at];
      if (is_value(unit) || (unit & 0xFF) != byte) return;
      at ^= offset(unit);
      if (ends_string(unit) && !each(i + 1, units_[at] & 0x7FFFFFFF)) return;
    }
  }
  std::optional<std::uint32_t> value_of_first(std::string_view text) const {
    std::optional<std::uint32_t> out;
    walk(text, [&](std::size_t, std::uint32_t value) {
      out = value;
      return false;
    });
    return out;
  }
  std::string_view replacement(std::uint32_t value) const {
    std::string_view const from = std::string_view(replacements_).substr(value);
    return from.substr(0, from.find('\0'));
  }

  std::vector<std::uint32_t> units_;
  std::string replacements_;
  std::array<std::uint32_t, 128> ascii_{};
};

}  // namespace tx::text::detail
