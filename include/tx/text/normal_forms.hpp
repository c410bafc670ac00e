// The normalizers NFC, NFD, NFKC and NFKD: letters apart from their marks or composed with them.
#pragma once

#include <tx/text/canonical.hpp>
#include <tx/text/change_result.hpp>
#include <tx/text/origin_writer.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tx::text::detail {

struct normal_form {
  bool similar;   // characters become those that they look like (the K)
  bool composed;  // C, not D

  change_result apply(text_slice from, changed_text& to) const {
    if (is_so(from.bytes)) return {from};
    std::vector<character> all = apart(from.bytes);
    if (composed) compose(all);
    to.clear();
    origin_writer origins(from, to);
    for (character const& c : all) {
      std::size_t const before = to.bytes.size();
      io::append_utf8(to.bytes, c.value);
      origins.put(to.bytes.size() - before, c.stands_for);
    }
    return {to.slice(from.origins != nullptr)};
  }

 private:
  struct character {
    char32_t value;
    std::uint32_t stands_for;  // characters of the old text
    std::uint8_t mark_class;
  };

  // Of many texts that is told soon: ASCII is in every form, and what lies below U+0300 in NFC.
  bool is_so(std::string_view text) const {
    unsigned char const end = composed && !similar ? 0xCC : 0x80;  // U+0300 begins with 0xCC
    return std::ranges::all_of(text, [&](char c) { return static_cast<unsigned char>(c) < end; });
  }

  std::vector<character> apart(std::string_view text) const {
    taken_apart const& table = similar ? taken_apart::similar() : taken_apart::canonical();
    std::vector<character> out;
    out.reserve(text.size());
    std::size_t marks = 0;  // where those begin that are not in order yet
    auto const put_in_order = [&] { std::stable_sort(out.begin() + static_cast<std::ptrdiff_t>(marks), out.end(), [](auto const& a, auto const& b) { return a.mark_class < b.mark_class; }); };
    std::uint32_t stands_for = 1;
    auto const put = [&](char32_t c) {
      std::uint8_t const of = mark_class(c);
      if (of == 0) {
        put_in_order();
        marks = out.size() + 1;
      }
      out.push_back({c, std::exchange(stands_for, 0), of});
    };
    for (std::size_t i = 0; i < text.size();) {
      auto const c = io::decode_utf8(text, i);
      i += c.length;
      stands_for = 1;
      if (hangul::is_syllable(c.value)) hangul::take_apart(c.value, put);
      else if (auto const parts = table[c.value]; !parts.empty()) std::ranges::for_each(parts, put);
      else put(c.value);
    }
    put_in_order();
    return out;
  }
  // Each mark with the letter before it, unless one between them hides it: one of the same class or, as they are in order, a higher one.
  static void compose(std::vector<character>& all) {
    std::size_t kept = 0, letter = all.size();
    std::uint8_t hidden = 0;  // marks of this class and below
    bool behind_mark = false;
    for (character const c : all) {
      if (letter < kept && !(behind_mark && hidden >= c.mark_class)) {
        if (char32_t const both = detail::composed(all[letter].value, c.value)) {
          all[letter].value = both;
          all[letter].stands_for += c.stands_for;
          continue;
        }
      }
      behind_mark = c.mark_class != 0;
      hidden = c.mark_class;
      if (!behind_mark) letter = kept;
      all[kept++] = c;
    }
    all.resize(kept);
  }
};

}  // namespace tx::text::detail
