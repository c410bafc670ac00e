// What a tokenizer.json lists under normalizer, but for BERT's: changes of a whole text before it is taken apart, one after the other.
#pragma once

#include <tx/text/added_tokens.hpp>
#include <tx/text/filtered_characters.hpp>
#include <tx/text/mapped_characters.hpp>
#include <tx/text/normal_forms.hpp>
#include <tx/text/paged_table.hpp>
#include <tx/text/unicode_tables.hpp>

#include <string>
#include <variant>
#include <vector>

namespace tx::text::detail {

inline bool is_white(char32_t c) { return contains(white_ranges, c); }

// Each place where a string is written, or, where there is none, each run of two spaces or more.
class replaced_strings {
 public:
  replaced_strings(std::string what, std::string by) : what_(std::move(what)), by_(std::move(by)) {}

  change_result apply(text_slice from, changed_text& to) const {
    text_range found = next(from.bytes, 0);
    if (found.begin == found.end) return {from};
    bool const moved = found.begin == 0;
    to.clear();
    std::size_t at = 0;
    auto const keep = [&](std::size_t end) {
      to.bytes += from.bytes.substr(at, end - at);
      if (from.origins != nullptr) to.origins.insert(to.origins.end(), from.origins + at, from.origins + end);
    };
    for (; found.begin != found.end; found = next(from.bytes, at)) {
      keep(found.begin);
      if (from.origins != nullptr) to.put(by_, from.origins[found.end - 1]);
      else to.bytes += by_;
      at = found.end;
    }
    keep(from.bytes.size());
    return {to.slice(from.origins != nullptr), moved};
  }

 private:
  text_range next(std::string_view text, std::size_t from) const {
    std::size_t const at = text.find(what_.empty() ? std::string_view("  ") : std::string_view(what_), from);
    if (at == std::string_view::npos) return {};
    if (!what_.empty()) return {at, at + what_.size()};
    std::size_t const end = text.find_first_not_of(' ', at);
    return {at, end == std::string_view::npos ? text.size() : end};
  }

  std::string what_, by_;
};

struct stripped_spaces {
  bool left, right;

  change_result apply(text_slice from, changed_text&) const {
    std::size_t begin = 0, end = from.bytes.size();
    while (left && begin < end) {
      auto const c = io::decode_utf8(from.bytes, begin);
      if (!is_white(c.value)) break;
      begin += c.length;
    }
    while (right && end > begin) {
      std::size_t last = end - 1;
      while (last > begin && (static_cast<unsigned char>(from.bytes[last]) & 0xC0) == 0x80) --last;
      if (!is_white(io::decode_utf8(from.bytes, last).value)) break;
      end = last;
    }
    return {from.sub(begin, end - begin), begin > 0};
  }
};

struct lower_case {
  std::vector<std::string> kept{};  // strings that stay as they are: at each place the first that is written there

  change_result apply(text_slice from, changed_text& to) const {
    to.clear();
    for (std::size_t i = 0; i < from.bytes.size();) {
      if (std::size_t const length = kept_at(from.bytes.substr(i)); length > 0) {
        to.bytes += from.bytes.substr(i, length);
        if (from.origins != nullptr) to.origins.insert(to.origins.end(), from.origins + i, from.origins + i + length);
        i += length;
        continue;
      }
      auto const c = io::decode_utf8(from.bytes, i);
      if (c.value == 0x130) to.bytes += "i\u0307";
      else io::append_utf8(to.bytes, lowered(c.value));
      if (from.origins != nullptr) to.origins.resize(to.bytes.size(), from.origins[i]);
      i += c.length;
    }
    return {to.slice(from.origins != nullptr)};
  }

 private:
  std::size_t kept_at(std::string_view text) const {
    for (std::string const& k : kept)
      if (text.starts_with(k)) return k.size();
    return 0;
  }
  static char32_t lowered(char32_t c) {
    static paged_table<std::int32_t> const difference = [] {
      std::vector<std::int32_t> all(0x110000, 0);
      for (code_steps const& s : lower_steps)
        for (char32_t p = s.first; p <= s.last; p += static_cast<char32_t>(s.step)) all[p] = s.difference;
      return paged_table<std::int32_t>(all);
    }();
    return static_cast<char32_t>(static_cast<std::int32_t>(c) + difference[c]);
  }
};

struct put_before {
  std::string what;

  change_result apply(text_slice from, changed_text& to) const {
    if (from.bytes.empty()) return {from};
    to.clear();
    to.bytes = what;
    to.bytes += from.bytes;
    if (from.origins != nullptr) {
      to.origins.assign(what.size(), from.origins[0]);
      to.origins.insert(to.origins.end(), from.origins, from.origins + from.bytes.size());
    }
    return {to.slice(from.origins != nullptr)};
  }
};

using text_change = std::variant<mapped_characters, normal_form, filtered_characters, replaced_strings, stripped_spaces, lower_case, put_before>;

// Room for a text and what it becomes.
struct change_rooms {
  changed_text written, one, other;
};

// All of them in order. The result lies in `rooms` or where the text lies.
inline change_result apply_all(std::vector<text_change> const& changes, text_slice text, change_rooms& rooms) {
  change_result now{text};
  bool in_one = false;
  for (text_change const& c : changes) {
    changed_text& to = in_one ? rooms.other : rooms.one;
    change_result const next = std::visit([&](auto const& how) { return how.apply(now.text, to); }, c);
    if (next.text.bytes.data() == to.bytes.data()) in_one = !in_one;  // others return a part of what they are given
    now = {next.text, now.front_moved || next.front_moved};
  }
  return now;
}

inline std::string changed_by(std::vector<text_change> const& changes, std::string_view text) {
  change_rooms rooms;
  return std::string(apply_all(changes, written_text(text, 0, false, rooms.written), rooms).text.bytes);
}

// What tokens are called in changed texts, if they are found in those. One of which nothing is left is not found at all: its file is refused.
inline std::vector<added_token> with_changed_names(std::vector<added_token> tokens, std::vector<text_change> const& changes) {
  for (added_token& t : tokens) t.content = changed_by(changes, t.content);
  std::erase_if(tokens, [](added_token const& t) { return t.content.empty(); });
  return tokens;
}

}  // namespace tx::text::detail
