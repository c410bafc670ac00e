// What a tokenizer.json lists under normalizer, but for BERT's: changes of a whole text before it is taken apart, one after the other.
#pragma once

#include <tx/text/charsmap.hpp>
#include <tx/text/graphemes.hpp>
#include <tx/text/paged_table.hpp>
#include <tx/text/text_range.hpp>
#include <tx/text/unicode_tables.hpp>

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace tx::text::detail {

inline bool is_white(char32_t c) { return contains(white_ranges, c); }

// What a text has become. front_moved: what begins it now may not be what began it before, by which its first word is told.
struct change_result {
  text_slice text;
  bool front_moved = false;
};

// A map of characters, as the crate spm_precompiled applies it: a cluster of less than six bytes is looked up whole, but a string of the map that begins it is
// enough to replace all of it; characters of other clusters are looked up one by one.
class mapped_characters {
 public:
  explicit mapped_characters(std::shared_ptr<charsmap const> map) : map_(std::move(map)) {}

  change_result apply(text_slice from, changed_text& to) const {
    to.clear();
    if (from.origins == nullptr) {
      for_each_part(from.bytes, [&](std::string_view, std::string_view now) { to.bytes += now; });
    } else {
      writer w{from, to};
      for_each_part(from.bytes, [&](std::string_view was, std::string_view now) { w.replace(was, now); });
      w.flush();
    }
    return {to.slice(from.origins != nullptr)};
  }

 private:
  // Where characters come from, as tokenizers counts it: each new one stands for the next of the old ones, and what a shorter replacement leaves over goes
  // with the character before it, if there is one.
  struct writer {
    text_slice from;
    changed_text& to;
    std::size_t at = 0, bytes = 0;  // of the old text; of the character that is not written yet
    long taken = 0;                 // old characters that it takes beyond one; -1: none

    void replace(std::string_view was, std::string_view now) {
      long const old_count = count(was), new_count = count(now);
      to.bytes += now;
      long number = 0;
      for (std::size_t i = 0; i < now.size(); ++number) {
        std::size_t const length = io::decode_utf8(now, i).length;
        put(length, number < old_count ? 0 : -1);
        i += length;
      }
      if (new_count < old_count && bytes > 0) taken += old_count - new_count;
    }
    void put(std::size_t length, long takes) {
      flush();
      bytes = length;
      taken = takes;
    }
    void flush() {
      if (bytes == 0) return;
      std::size_t const last = from.bytes.size() - 1;
      to.origins.insert(to.origins.end(), bytes, from.origins[std::min(taken < 0 && at > 0 ? at - 1 : at, last)]);
      for (long k = taken; k >= 0 && at < from.bytes.size(); --k) at += io::decode_utf8(from.bytes, at).length;
      bytes = 0;
    }
    static long count(std::string_view text) {
      long n = 0;
      for (char const c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      return n;
    }
  };

  // Calls each(was, now) for the parts of a text in order.
  template <class Each>
  void for_each_part(std::string_view text, Each&& each) const {
    auto const ascii = [&](std::size_t i) { return static_cast<unsigned char>(text[i]) < 0x80; };
    for (std::size_t i = 0; i < text.size();) {
      // A character of ASCII before another one is a cluster.
      if (ascii(i) && text[i] != '\r' && (i + 1 == text.size() || ascii(i + 1))) {
        std::string_view const was = text.substr(i++, 1);
        auto const now = map_->of_ascii(static_cast<unsigned char>(was[0]));
        each(was, now.value_or(was));
        continue;
      }
      std::size_t const end = cluster_end(text, i);
      if (end - i < 6) {
        if (auto const now = map_->shortest(text.substr(i, end - i))) {
          each(text.substr(i, end - i), *now);
          i = end;
          continue;
        }
      }
      while (i < end) {
        std::string_view const was = text.substr(i, io::decode_utf8(text, i).length);
        auto const now = map_->shortest(was);
        each(was, now.value_or(was));
        i += was.size();
      }
    }
  }

  std::shared_ptr<charsmap const> map_;
};

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
  change_result apply(text_slice from, changed_text& to) const {
    to.clear();
    for (std::size_t i = 0; i < from.bytes.size();) {
      auto const c = io::decode_utf8(from.bytes, i);
      if (c.value == 0x130) to.bytes += "i\u0307";
      else io::append_utf8(to.bytes, lowered(c.value));
      if (from.origins != nullptr) to.origins.resize(to.bytes.size(), from.origins[i]);
      i += c.length;
    }
    return {to.slice(from.origins != nullptr)};
  }

 private:
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

using text_change = std::variant<mapped_characters, replaced_strings, stripped_spaces, lower_case, put_before>;

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

}  // namespace tx::text::detail
