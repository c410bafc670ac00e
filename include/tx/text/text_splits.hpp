// What a tokenizer.json lists under pre_tokenizer beside Unigram: how a changed text is cut into the words that pieces are looked for in.
#pragma once

#include <tx/text/text_changes.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tx::text::detail {

// Where a mark is put before a text that does not begin with one.
enum class mark_place : std::uint8_t { always, first, never };

// Spaces become a mark, and each begins a word.
struct marked_words {
  std::string mark;
  mark_place place;
  bool cut;

  // begins: whether the text is what begins the whole one.
  template <class Each>
  void split(text_slice from, bool begins, changed_text& room, Each&& each) const {
    bool const traced = from.origins != nullptr;
    room.clear();
    auto const put = [&](std::string_view what, std::size_t of) {
      if (traced) room.put(what, from.origins[of]);
      else room.bytes += what;
    };
    if (!from.bytes.starts_with(' ') && !from.bytes.starts_with(mark) && (place == mark_place::always || (place == mark_place::first && begins))) put(mark, 0);
    for (std::size_t at = 0; at < from.bytes.size();) {
      std::size_t const space = std::min(from.bytes.find(' ', at), from.bytes.size());
      room.bytes += from.bytes.substr(at, space - at);
      if (traced) room.origins.insert(room.origins.end(), from.origins + at, from.origins + space);
      if (space < from.bytes.size()) put(mark, space);
      at = space + 1;
    }
    text_slice const all = room.slice(traced);
    if (!cut) return each(all);
    for (std::size_t at = 0; at < all.bytes.size();) {
      std::size_t const end = std::min(all.bytes.find(mark, all.bytes.starts_with(mark) || at > 0 ? at + mark.size() : at), all.bytes.size());
      each(all.sub(at, end - at));
      at = end;
    }
  }
};

struct spaced_words {
  template <class Each>
  void split(text_slice from, bool, changed_text&, Each&& each) const {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < from.bytes.size();) {
      auto const c = io::decode_utf8(from.bytes, i);
      if (is_white(c.value)) {
        if (i > begin) each(from.sub(begin, i - begin));
        begin = i + c.length;
      }
      i += c.length;
    }
    if (begin < from.bytes.size()) each(from.sub(begin, from.bytes.size() - begin));
  }
};

using text_split = std::variant<marked_words, spaced_words>;

// Calls each(word) for what all of them, from number `at` on, leave of a text, none of them empty. begins: whether the text is what begins the whole one, where
// its characters do not tell; splits behind the first need those. rooms: one of each split.
template <class Each>
void split_all(std::vector<text_split> const& splits, std::size_t at, text_slice text, bool begins, std::vector<changed_text>& rooms, Each& each) {
  if (text.bytes.empty()) return;
  if (at == splits.size()) return each(text);
  if (text.origins != nullptr) begins = text.origins[0].begin == 0;
  std::visit([&](auto const& how) { how.split(text, begins, rooms[at], [&](text_slice word) { split_all(splits, at + 1, word, false, rooms, each); }); }, splits[at]);
}

}  // namespace tx::text::detail
