// JSON files of which a person may have written a part: config.json, an index of weights, tokenizer.json.
#pragma once

#include <tx/io/files.hpp>
#include <tx/io/utf8.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tx::io {

namespace detail {

// What is read is copied and written by functions that call themselves, so lists and objects lie in each other only so deep.
inline constexpr std::ptrdiff_t deepest_json = 500;

// How deep they do; of what is JSON.
inline std::ptrdiff_t depth_of_json(std::string_view text) {
  std::ptrdiff_t depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (c == '"') quoted = !quoted;
    else if (quoted) i += c == '\\';
    else if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    else if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

}  // namespace detail

// `source` stands for the file's name in messages. Throws format_error with the place for what is no JSON, and for lists and objects more than 500 deep.
inline nlohmann::json parse_json(std::string_view text, std::string_view source) {
  auto const not_understood = [&](std::size_t byte) {
    return format_error(std::string(source) + " is no JSON: what byte " + std::to_string(byte) + " belongs to is not understood");
  };
  if (detail::depth_of_json(text) > detail::deepest_json)
    throw format_error(std::string(source) + " has lists and objects more than " + std::to_string(detail::deepest_json) + " deep in each other");
  try {
    auto out = nlohmann::json::parse(text);
    if (std::size_t const zero = text.find('\0'); zero != std::string_view::npos) throw not_understood(zero + 1);  // the parser takes it for the end
    return out;
  } catch (nlohmann::json::parse_error const& e) {
    throw not_understood(e.byte);
  } catch (nlohmann::json::out_of_range const&) {
    throw format_error(std::string(source) + " has a number that no f64 holds");
  }
}
// A value in a message.
inline std::string shown_value(nlohmann::json const& value) {
  if (value.is_string()) return shown(value.get_ref<std::string const&>());
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  return value.dump();
}

inline nlohmann::json read_json(std::filesystem::path const& path) {
  std::vector<std::byte> const bytes = read_file(path);
  return parse_json({reinterpret_cast<char const*>(bytes.data()), bytes.size()}, path.string());
}

}  // namespace tx::io
