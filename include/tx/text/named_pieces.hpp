// A file of SentencePiece as transformers' tokenizers in Python use it: texts are cut at the names of added tokens, what stands between them is taken apart,
// and each token has the id that its name has. `named_pieces_folder.hpp` reads which names and ids those are.
#pragma once

#include <tx/text/named_cuts.hpp>
#include <tx/text/piece_names.hpp>
#include <tx/text/text_changes.hpp>

#include <set>

namespace tx::text {

// Const members may be called from several threads.
class named_pieces {
 public:
  // What differs from class to class.
  struct choices {
    std::int32_t unknown = 0;                    // the id of what has no name
    std::vector<detail::text_change> changes{};  // of a whole text, before it is looked at
    // Newer T5's: spaces before what stands behind an added token are kept, though the file's settings take them. Then this is what the unknown piece is
    // called, which is put before such a part and taken off again; and a mark alone before one of `special` is left out.
    std::string keeps_spaces_behind{};
    std::set<std::string, std::less<>> special{};
  };

  named_pieces(piece_names names, detail::named_cuts cuts, choices how) : names_(std::move(names)), cuts_(std::move(cuts)), how_(std::move(how)) {
    for (std::size_t k = 0; k < cuts_.all().size(); ++k) added_.emplace(cuts_.all()[k].content, cuts_.all()[k].id);
    sentencepiece const& pieces = names_.pieces();
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      auto const id = static_cast<std::int32_t>(k);
      ids_.push_back(id_of(pieces.text(id)));
    }
    if (!how_.keeps_spaces_behind.empty()) put_before_ = pieces.encode(how_.keeps_spaces_behind).size();
  }

  std::size_t size() const { return names_.size(); }  // ids are below it, but for added tokens'
  std::optional<std::int32_t> id(std::string const& name) const { return names_.id(name); }
  std::optional<std::string> name(std::int32_t id) const { return names_.name(id); }

  // The tokens of a text that begins at byte `begin` of what ranges count in, behind those that are there.
  template <bool Ranges>
  void append(std::string_view text, std::size_t begin, token_list& to) const {
    detail::change_rooms rooms;
    detail::text_slice const now = detail::apply_all(how_.changes, detail::written_text(text, begin, Ranges, rooms.written), rooms).text;
    std::size_t const before = to.ids.size();
    std::string first, second;  // names of the first two tokens, where they are asked for
    auto const put = [&](std::int32_t id, std::string_view name, text_range where) {
      if (!how_.keeps_spaces_behind.empty() && to.ids.size() < before + 2) (to.ids.size() == before ? first : second) = name;
      to.ids.push_back(id);
      if constexpr (Ranges) to.ranges.push_back(written(now, where, begin));
    };
    auto const place = [&](std::string_view part) { return static_cast<std::size_t>(part.data() - now.bytes.data()); };
    auto const piece = [&](std::int32_t id, std::string_view unknown, text_range where) {
      if (unknown.empty()) put(ids_[static_cast<std::size_t>(id)], names_.pieces().text(id), where);
      else put(id_of(std::string(unknown)), unknown, where);
    };
    cuts_.split(
        now.bytes,
        [&](std::string_view part) {
          if (how_.keeps_spaces_behind.empty() || !(part.starts_with(' ') || part.starts_with(mark))) names_.pieces().each<Ranges>(part, place(part), piece);
          else append_behind_unknown<Ranges>(part, place(part), piece);
        },
        [&](added_token const& t, std::string_view part) { put(t.id, t.content, {place(part), place(part) + part.size()}); });
    if (to.ids.size() > before + 1 && first == mark && how_.special.contains(second)) {
      to.ids.erase(to.ids.begin() + static_cast<std::ptrdiff_t>(before));
      if constexpr (Ranges) to.ranges.erase(to.ranges.begin() + static_cast<std::ptrdiff_t>(before));
    }
  }

 private:
  static constexpr std::string_view mark = "\u2581";

  template <bool Ranges, class Piece>
  void append_behind_unknown(std::string_view part, std::size_t at, Piece&& piece) const {
    std::string const whole = how_.keeps_spaces_behind + std::string(part);
    std::size_t count = 0;
    names_.pieces().each<false>(whole, 0, [&](std::int32_t, std::string_view, text_range) { ++count; });
    std::size_t const left_out = count >= put_before_ ? put_before_ : 0, longer = how_.keeps_spaces_behind.size();
    count = 0;
    names_.pieces().each<Ranges>(whole, 0, [&](std::int32_t id, std::string_view unknown, text_range r) {
      if (count++ >= left_out) piece(id, unknown, {at + std::max(r.begin, longer) - longer, at + std::max(r.end, longer) - longer});
    });
  }

  std::int32_t id_of(std::string const& name) const {
    if (auto const at = added_.find(name); at != added_.end()) return at->second;
    return names_.id(name).value_or(how_.unknown);
  }
  // Where a range of a changed text comes from; one that is empty stays so.
  static text_range written(detail::text_slice now, text_range where, std::size_t begin) {
    std::size_t const n = now.bytes.size();
    if (where.begin < where.end) return now.range(where.begin, where.end);
    std::size_t const at = n == 0 ? begin : where.begin < n ? now.origins[where.begin].begin : now.origins[n - 1].end;
    return {at, at};
  }

  piece_names names_;
  detail::named_cuts cuts_;
  choices how_;
  std::unordered_map<std::string, std::int32_t> added_;
  std::vector<std::int32_t> ids_;  // of each piece of the file
  std::size_t put_before_ = 0;     // tokens of what is put before such parts
};

}  // namespace tx::text
