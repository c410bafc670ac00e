// Texts with labels, one a line: "label <tab> text", "label <tab> text <tab> second text", or a JSON object with "label", "text" and perhaps "pair".
#pragma once

#include <tx/io/json.hpp>
#include <tx/text/lines.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tx::text {

struct labelled_text {
  std::string label;  // a name, or a number as it was written; empty where the line has none
  std::string text;
  std::optional<std::string> pair{};
};

enum class labels { required, none };

namespace detail {

inline labelled_text text_of_json(std::string_view line, std::string const& source, labels wanted) {
  nlohmann::json const json = io::parse_json(line, source);
  labelled_text out;
  auto const as_text = [&](char const* key) {
    auto const at = json.find(key);
    if (at == json.end() || !at->is_string()) throw format_error(source + ": " + key + " is " + (at == json.end() ? "missing" : io::shown_value(*at)) + ", not a string");
    return at->get<std::string>();
  };
  for (auto const& [key, value] : json.items())
    if (key != "label" && key != "text" && key != "pair") throw format_error(source + ": the key " + io::shown(key) + " is not known; known are label, text and pair");
  out.text = as_text("text");
  if (json.contains("pair")) out.pair = as_text("pair");
  auto const label = json.find("label");
  if (label == json.end() && wanted == labels::none) return out;
  if (label == json.end() || label->is_structured() || label->is_null()) throw format_error(source + ": the label is missing, or neither a string nor a number");
  out.label = label->is_string() ? label->get<std::string>() : label->dump();
  return out;
}

inline labelled_text text_of_columns(std::string_view line, std::string const& source, labels wanted) {
  std::vector<std::string> columns;
  for (std::size_t from = 0; from <= line.size();) {
    std::size_t const tab = std::min(line.find('\t', from), line.size());
    columns.emplace_back(line.substr(from, tab - from));
    from = tab + 1;
  }
  std::size_t const first = wanted == labels::required ? 1 : 0;
  if (columns.size() != first + 1 && columns.size() != first + 2)
    throw format_error(source + (columns.size() == 1 ? ": no tab" : ": " + std::to_string(columns.size()) + " columns") + " where " + (first == 1 ? "a label, a text" : "a text") +
                       " and perhaps a second text belong, with a tab between them. FIX: " + (first == 1 ? "label<TAB>text, or label<TAB>text<TAB>text" : "text, or text<TAB>text") + ", or JSON lines");
  labelled_text out{first == 1 ? columns[0] : "", columns[first]};
  if (columns.size() == first + 2) out.pair = columns[first + 1];
  return out;
}

}  // namespace detail

// With labels::none lines have no label (a JSON object's is read). Throws format_error naming `source` and the line for what is not UTF-8, for other
// columns or keys, for empty labels and texts, for lines of which some have a second text and others none, and for a file without lines.
inline std::vector<labelled_text> parse_labelled_texts(std::string_view text, std::string const& source, labels wanted = labels::required) {
  std::vector<labelled_text> all;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    std::string const where = source + ':' + std::to_string(number);
    auto const blank = [](std::string_view s) { return s.find_first_not_of(" \t") == std::string_view::npos; };
    if (!io::is_utf8(line)) throw format_error(where + ": not UTF-8");
    if (line.empty()) throw format_error(where + ": the line is empty. FIX: leave it out");
    labelled_text t = line.front() == '{' ? detail::text_of_json(line, where, wanted) : detail::text_of_columns(line, where, wanted);
    if (wanted == labels::required && blank(t.label)) throw format_error(where + ": the label is empty. FIX: label<TAB>text, or a key label");
    if (blank(t.text) || (t.pair && blank(*t.pair))) throw format_error(where + ": the text is empty. FIX: a text, or leave the line out");
    if (!all.empty() && all.front().pair.has_value() != t.pair.has_value())
      throw format_error(where + (t.pair ? ": a second text, which the first line lacks" : ": no second text, which the first line has"));
    all.push_back(std::move(t));
  });
  if (all.empty()) throw format_error(source + ": no texts, the file is empty. FIX: a text a line");
  return all;
}

// Throws io_error as well, when the file cannot be read.
inline std::vector<labelled_text> read_labelled_texts(std::filesystem::path const& path, labels wanted = labels::required) {
  return parse_labelled_texts(io::read_text(path), path.string(), wanted);
}

}  // namespace tx::text
