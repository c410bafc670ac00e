// Texts to ids of a unigram model's pieces: how a tokenizer.json says that they are changed, cut into words and taken apart.
#pragma once

#include <tx/text/added_tokens.hpp>
#include <tx/text/text_splits.hpp>
#include <tx/text/unigram.hpp>

namespace tx::text {

// Const members may be called from several threads.
class unigram_text {
 public:
  // added: tokens that are found in changed texts, where others would be looked for in texts as they are written.
  unigram_text(unigram model, std::vector<detail::text_change> changes, std::vector<detail::text_split> splits, std::vector<added_token> added)
      : model_(std::move(model)), changes_(std::move(changes)), splits_(std::move(splits)) {
    size_ = model_.size();
    for (added_token const& t : added) {
      size_ = std::max(size_, static_cast<std::size_t>(t.id) + 1);
      names_.emplace_back(t.content, t.id);
    }
    added_ = added_tokens(detail::with_changed_names(std::move(added), changes_));
    for (std::size_t k = 0; k < splits_.size(); ++k) {
      auto const* const marked = std::get_if<detail::marked_words>(&splits_[k]);
      if (marked != nullptr && marked->place == detail::mark_place::first) (k == 0 ? first_ : first_behind_) = true;
    }
  }

  std::size_t size() const { return size_; }  // ids are below it
  // Of a piece or an added token.
  std::optional<std::int32_t> id(std::string_view name) const {
    for (auto const& [content, id] : names_)
      if (content == name) return id;
    return model_.id(name);
  }
  unigram const& model() const { return model_; }

  // The tokens of a part of a text that begins at byte `begin` of it.
  template <bool Ranges>
  void append(std::string_view part, std::size_t begin, token_list& to) const {
    detail::change_rooms rooms;
    bool traced = Ranges || (begin == 0 && first_behind_);
    auto now = detail::apply_all(changes_, detail::written_text(part, begin, traced, rooms.written), rooms);
    // Which word is the first may depend on where its characters come from.
    if (!traced && begin == 0 && first_ && now.front_moved) {
      traced = true;
      now = detail::apply_all(changes_, detail::written_text(part, begin, traced, rooms.written), rooms);
    }
    std::vector<detail::changed_text> split_rooms(splits_.size());
    unigram::workspace work;
    auto const word = [&](detail::text_slice w) { model_.append<Ranges>(w, to, work); };
    std::string_view const text = now.text.bytes;
    auto const at = [&](std::string_view of) { return static_cast<std::size_t>(of.data() - text.data()); };
    added_.split(
        text,
        [&](std::string_view between) { detail::split_all(splits_, 0, now.text.sub(at(between), between.size()), begin == 0 && at(between) == 0, split_rooms, word); },
        [&](std::int32_t id, text_range where) {
          to.ids.push_back(id);
          if constexpr (Ranges) to.ranges.push_back(now.text.range(where.begin, where.end));
        });
  }

 private:
  unigram model_;
  std::vector<detail::text_change> changes_;
  std::vector<detail::text_split> splits_;
  added_tokens added_;
  std::vector<std::pair<std::string, std::int32_t>> names_;  // of those, as they are written
  std::size_t size_ = 0;
  bool first_ = false, first_behind_ = false;  // a word that is the first is told from others, by the first split or a later one
};

}  // namespace tx::text
