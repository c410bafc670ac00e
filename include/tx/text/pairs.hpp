// Training pairs from tab-separated text: query <tab> document [<tab> label].
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/files.hpp>
#include <tx/io/utf8.hpp>
#include <tx/text/lines.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tx::text {

struct pair {
  std::string query;
  std::string document;
  float label = 1;        // how well they match, 0 to 1; 1 where the line has none
  bool labelled = false;  // whether the line has one
};

// Takes UTF-8 lines that end in LF or CR LF; labels are decimal numbers from 0 to 1. A document may be empty, a query
// may not. Throws format_error naming `source` and the line for anything else, and for a text without lines.
inline std::vector<pair> parse_pairs(std::string_view text, std::string_view source = "pairs") {
  std::vector<pair> pairs;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    auto const fail = [&](std::string const& what) {
      throw format_error(std::string(source) + ':' + std::to_string(number) + ": " + what);
    };
    if (!io::is_utf8(line)) fail("not UTF-8");
    auto const tabs = std::ranges::count(line, '\t');
    if (tabs < 1 || tabs > 2) {
      fail(std::to_string(tabs + 1) + (tabs == 0 ? " column" : " columns") +
           " where query, document and perhaps a label belong");
    }
    std::size_t const first = line.find('\t');
    std::size_t const second = line.find('\t', first + 1);
    pair p{std::string(line.substr(0, first)), std::string(line.substr(first + 1, second - first - 1))};
    if (p.query.find_first_not_of(' ') == std::string::npos) fail("the query is empty");
    if (second != std::string_view::npos) {
      std::string_view const label = line.substr(second + 1);
      auto const [end, code] = std::from_chars(label.data(), label.data() + label.size(), p.label);
      // Written so that NaN fails too.
      if (code != std::errc{} || end != label.data() + label.size() || !(p.label >= 0 && p.label <= 1)) {
        fail("the label " + io::shown(label) + " is no number from 0 to 1");
      }
      p.labelled = true;
    }
    pairs.push_back(std::move(p));
  });
  if (pairs.empty()) throw format_error(std::string(source) + ": no pairs, the file is empty");
  return pairs;
}

// Throws io_error as well, when the file cannot be read.
inline std::vector<pair> read_pairs(std::filesystem::path const& path) {
  return parse_pairs(io::read_text(path), path.string());
}

}  // namespace tx::text
