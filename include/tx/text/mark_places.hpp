// Where accents come from that stay when others are removed, as tokenizers counts it: a letter's accents are put in order first, and what stands in the place of
// one is taken to come from it.
#pragma once

#include <tx/io/utf8.hpp>
#include <tx/text/bert_characters.hpp>
#include <tx/text/mark_tables.hpp>
#include <tx/text/text_range.hpp>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

namespace tx::text::detail {

// null: it is none of the table's.
inline mark_order const* orders_of(std::span<mark_order const> table, char32_t c) {
  auto const at = std::ranges::lower_bound(table, c, {}, &mark_order::last);
  return at != table.end() && at->first <= c ? &*at : nullptr;
}

// Of the accents behind the letter that begins at text[letter_at], or at the text's beginning, those that stay, in the order in which they are put.
inline std::vector<text_range> places_of_kept_marks(std::string_view text, std::size_t letter_at, bert_characters const& table) {
  struct accent {
    std::uint8_t order;
    bool takes_place;  // of a character; others come of the same one as an accent before them
    bool stays;
  };
  std::vector<accent> accents;
  std::vector<text_range> places;
  text_range last{letter_at, letter_at};
  std::size_t i = letter_at;
  auto const add = [&](mark_order const& orders, bool is_mark, auto&& stays) {
    for (std::size_t k = 0; k < 3 && orders.orders[k] != 0; ++k) accents.push_back({orders.orders[k], is_mark && k == 0, stays(k)});
  };
  if (io::code_point const letter = io::decode_utf8(text, i); orders_of(mark_orders, letter.value) == nullptr) {
    auto const e = table[letter.value];
    if (mark_order const* const orders = orders_of(letter_mark_orders, letter.value)) {
      // Of the characters that it is taken apart into, those that stay are listed; accents are the last of them.
      std::vector<bool> kept;
      if (e.what == fate::several)
        for (char32_t const part : table.list(e.value))
          if (part != 0 && bert_characters::order_of(part) != 0) kept.push_back(true);
      add(*orders, false, [&](std::size_t k) { return k < kept.size(); });
    }
    last = {letter_at, letter_at + letter.length};
    i += letter.length;
  }
  for (; i < text.size();) {
    io::code_point const c = io::decode_utf8(text, i);
    auto const e = table[c.value];
    if (e.what != fate::mark && e.what != fate::removed) break;
    bool const is_gone = table.rules().clean && contains(removed_ranges, c.value);
    if (mark_order const* const orders = is_gone ? nullptr : orders_of(mark_orders, c.value)) {
      add(*orders, true, [&](std::size_t) { return e.what == fate::mark; });
      places.push_back({i, i + c.length});
    }
    i += c.length;
  }
  std::ranges::stable_sort(accents, {}, &accent::order);
  std::vector<text_range> out;
  auto next = places.begin();
  for (accent const& a : accents) {
    if (a.takes_place) last = *next++;
    if (a.stays) out.push_back(last);
  }
  return out;
}

}  // namespace tx::text::detail
