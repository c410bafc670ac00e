// Text by lines, as the vocabulary and pair files have them.
#pragma once

#include <cstddef>
#include <string_view>

namespace tx::text {

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

enum class part_of_file { first, later };

// Calls each(line, number) for every line, numbered from 1, without its end (LF or CR LF). A last line needs no end; an
// end of line that ends the text begins no further line. A byte order mark is skipped, unless the text is a later part of a file.
template <class Each>
void for_each_line(std::string_view text, Each&& each, part_of_file part = part_of_file::first) {
  if (part == part_of_file::first && text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::size_t const end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    each(line, number);
  }
}

}  // namespace tx::text
