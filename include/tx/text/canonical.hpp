// Characters that are several: what each is taken apart into, in which order marks stand, and what two are composed to (Unicode Standard Annex 15).
//
//   U+1EC7 ệ   apart e, U+0323, U+0302; composed of U+1EB9 ẹ and U+0302
//   U+FB01 ﬁ   only looks like f and i, which it is taken apart into where that is asked for
#pragma once

#include <tx/text/canonical_tables.hpp>
#include <tx/text/compatibility_tables.hpp>
#include <tx/text/hangul.hpp>
#include <tx/text/mark_tables.hpp>
#include <tx/text/paged_table.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tx::text::detail {

// Of all characters but those syllables.
class taken_apart {
 public:
  static taken_apart const& canonical() {
    static taken_apart const table(false);
    return table;
  }
  // Into what looks like them, too.
  static taken_apart const& similar() {
    static taken_apart const table(true);
    return table;
  }

  // Empty where a character is one.
  std::u32string_view operator[](char32_t c) const {
    std::uint32_t const held = table_[c];
    return std::u32string_view(pool_).substr(held >> 5, held & 31);
  }

 private:
  explicit taken_apart(bool looks) : table_(made(looks)) {}

  static std::u32string canonical_parts(char32_t c) {
    auto const one = std::ranges::lower_bound(same_codes, c, {}, &same_code::from);
    if (one != std::end(same_codes) && one->from == c) return {one->to};
    auto const two = std::ranges::lower_bound(parted_codes, c, {}, &parted_code::from);
    if (two != std::end(parted_codes) && two->from == c) return canonical_parts(two->first) + two->second;
    return {c};
  }
  std::vector<std::uint32_t> made(bool looks) {
    std::vector<std::uint32_t> all(0x110000, 0);
    auto const set = [&](char32_t c, std::u32string_view parts) {
      all[c] = static_cast<std::uint32_t>(pool_.size()) << 5 | static_cast<std::uint32_t>(parts.size());
      pool_ += parts;
    };
    if (looks) {
      for (similar_steps const& s : similar_codes)
        for (char32_t c = s.first; c <= s.last; ++c) set(c, std::u32string(1, static_cast<char32_t>(static_cast<int>(c) + s.difference)));
      for (code_text const& t : similar_texts) set(t.from, t.to);
    }
    auto const set_all = [&](auto const& table) {
      for (auto const& e : table) {
        std::u32string parts;
        for (char32_t const part : canonical_parts(e.from))
          if (std::uint32_t const held = all[part]; held != 0) parts += pool_.substr(held >> 5, held & 31);
          else parts += part;
        set(e.from, parts);
      }
    };
    // Parts of characters are none of these themselves: what is looked up is in the tables above alone.
    set_all(same_codes);
    set_all(parted_codes);
    return all;
  }

  std::u32string pool_;
  paged_table<std::uint32_t> table_;  // of places and lengths in pool_, which making it fills
};

// The canonical combining class of a mark that is not taken apart, 0 of all else.
inline std::uint8_t mark_class(char32_t c) {
  static paged_table<std::uint8_t> const table = [] {
    std::vector<std::uint8_t> all(0x110000, 0);
    for (mark_order const& m : mark_orders)
      for (char32_t p = m.first; p <= m.last; ++p) all[p] = m.orders[0];
    return paged_table<std::uint8_t>(all);
  }();
  return table[c];
}

// What two characters are composed to; 0: nothing.
inline char32_t composed(char32_t first, char32_t second) {
  static std::vector<parted_code> const table = [] {
    std::vector<parted_code> out;
    for (parted_code const& p : parted_codes)
      if (!contains(not_composed_ranges, p.from)) out.push_back(p);
    std::ranges::sort(out, [](parted_code const& a, parted_code const& b) { return a.second != b.second ? a.second < b.second : a.first < b.first; });
    return out;
  }();
  if (second < 0x300) return 0;
  if (char32_t const syllable = hangul::composed(first, second)) return syllable;
  auto const at = std::ranges::lower_bound(table, std::pair(second, first), {}, [](parted_code const& p) { return std::pair(p.second, p.first); });
  return at != table.end() && at->second == second && at->first == first ? at->from : 0;
}

}  // namespace tx::text::detail
