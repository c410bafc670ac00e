// JSON files of which a person may have written a part: config.json, an index of weights, tokenizer.json.
#pragma once

#include <tx/io/files.hpp>
#include <tx/io/utf8.hpp>

#include <nlohmann/json.hpp>

namespace tx::io {

// `source` stands for the file's name in messages. Throws format_error with the place for what is no JSON.
inline nlohmann::json parse_json(std::string_view text, std::string_view source) {
  try {
    return nlohmann::json::parse(text);
  } catch (nlohmann::json::parse_error const& e) {
    throw format_error(std::string(source) + " is no JSON: what byte " + std::to_string(e.byte) + " belongs to is not understood");
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
