// The normalizers StripAccents and Nmt: some characters are left out, others become spaces.
#pragma once

#include <tx/text/change_result.hpp>
#include <tx/text/code_ranges.hpp>
#include <tx/text/filter_tables.hpp>

namespace tx::text::detail {

struct filtered_characters {
  std::span<code_range const> left_out, spaces;

  static filtered_characters without_accents() { return {accent_ranges, {}}; }
  static filtered_characters nmt() { return {nmt_left_out_ranges, nmt_space_ranges}; }

  change_result apply(text_slice from, changed_text& to) const {
    to.clear();
    bool moved = false;
    for (std::size_t i = 0; i < from.bytes.size();) {
      auto const c = io::decode_utf8(from.bytes, i);
      std::string_view now = from.bytes.substr(i, c.length);
      if (contains(left_out, c.value)) now = {};
      else if (contains(spaces, c.value)) now = " ";
      if (i == 0) moved = now.empty();
      to.bytes += now;
      if (from.origins != nullptr) to.origins.resize(to.bytes.size(), from.origins[i]);
      i += c.length;
    }
    return {to.slice(from.origins != nullptr), moved};
  }
};

}  // namespace tx::text::detail
