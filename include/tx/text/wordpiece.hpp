// WordPiece as BERT uses it: text to ids of words and word parts.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/files.hpp>
#include <tx/io/utf8.hpp>
#include <tx/text/basic_tokenizer.hpp>
#include <tx/text/lines.hpp>
#include <tx/text/piece_trie.hpp>
#include <tx/text/wordpiece_trainer.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tx::text {

// A vocabulary, id = place in it, and the tokenizer for it. A vocabulary file is BERT's vocab.txt: a token a line, ##
// before those that continue a word, among them [PAD], [UNK], [CLS], [SEP] and [MASK]. Text is split as
// basic_tokenizer.hpp says; each word is taken apart from the left into the longest pieces there are, and is [UNK] if
// that fails or it is over 100 characters long. Special tokens written out in a text are ordinary text here; tokenizer.hpp
// finds them. Const members may be called from several threads.
class wordpiece {
 public:
  // Throws io_error, or format_error naming file and line for a blank or repeated token, one that a carriage return
  // ends or a second byte order mark begins, bytes that are not UTF-8, or a missing special token.
  static wordpiece load(std::filesystem::path const& path, bert_rules const& rules = bert_uncased) { return parse(io::read_text(path), path.string(), rules); }
  static wordpiece parse(std::string_view text, std::string_view source, bert_rules const& rules = bert_uncased) {
    std::vector<std::string> tokens;
    for_each_line(text, [&](std::string_view line, std::size_t) { tokens.emplace_back(line); });
    wordpiece out(std::move(tokens), source, rules);
    for (std::size_t i = 0; i < special.size(); ++i)
      if (out.special_[i] < 0) throw format_error(std::string(source) + ": the vocabulary lacks " + std::string(special[i]));
    return out;
  }
  // Of tokens in the order of their ids, among which [UNK] has to be.
  static wordpiece of(std::vector<std::string> tokens, std::string_view source, bert_rules const& rules = bert_uncased) {
    wordpiece out(std::move(tokens), source, rules);
    if (out.unk_id() < 0) throw format_error(std::string(source) + ": the vocabulary lacks [UNK]");
    return out;
  }

  // Learns at most `size` tokens: the five special ones, the most frequent characters (up to 1,000), and merges by
  // plain pair frequency; fewer if no pair occurs twice any more. The same texts give the same vocabulary everywhere.
  // Throws value_error for a size below 6.
  static wordpiece learn(std::span<std::string const> texts, std::size_t size) {
    if (size <= special.size()) throw value_error("wordpiece::learn: the size must be at least 6");
    detail::wordpiece_trainer trainer;
    for (auto const& text : texts) trainer.add(text);
    std::vector<std::string> tokens(special.begin(), special.end());
    for (auto& piece : trainer.learn(size - special.size())) tokens.push_back(std::move(piece));
    return wordpiece(std::move(tokens), "learned vocabulary", bert_uncased);
  }

  // As a file holds it.
  std::string text() const {
    std::string lines;
    for (auto const& token : tokens_) lines += token + '\n';
    return lines;
  }
  void save(std::filesystem::path const& path) const { io::write_file_atomic(path, text()); }

  std::size_t size() const { return tokens_.size(); }
  std::vector<std::string> const& tokens() const { return tokens_; }
  // -1 of one that the vocabulary lacks.
  std::int32_t pad_id() const { return special_[0]; }
  std::int32_t unk_id() const { return special_[1]; }
  std::int32_t cls_id() const { return special_[2]; }
  std::int32_t sep_id() const { return special_[3]; }
  std::int32_t mask_id() const { return special_[4]; }

  // The id of a token as the vocabulary spells it.
  std::optional<std::int32_t> id(std::string_view token) const {
    auto const [root, text] = split(token);
    return trie_.find(root, text);
  }

  // Fills ids from the front, between [CLS] and [SEP] if asked for, cuts off what does not fit and fills what is left
  // with [PAD]. Returns how many are not padding. Throws value_error if ids cannot hold the two special tokens.
  std::size_t encode(std::string_view text, std::span<std::int32_t> ids, bool special_tokens) const {
    if (special_tokens && ids.size() < 2) throw value_error("wordpiece::encode: no room for [CLS] and [SEP]");
    std::size_t used = 0;
    std::size_t const room = ids.size() - (special_tokens ? 1 : 0);
    if (special_tokens) ids[used++] = cls_id();
    if (used < room) {
      for_each_id(text, [&](std::int32_t i) {
        ids[used++] = i;
        return used < room;
      });
    }
    if (special_tokens) ids[used++] = sep_id();
    std::ranges::fill(ids.subspan(used), pad_id());
    return used;
  }

  // All ids of a text, without special tokens.
  std::vector<std::int32_t> encode(std::string_view text) const {
    std::vector<std::int32_t> ids;
    for_each_id(text, [&](std::int32_t i) {
      ids.push_back(i);
      return true;
    });
    return ids;
  }
  // The tokens of a part of a text that begins at byte `begin` of it, behind those that are there.
  template <bool Ranges>
  void append(std::string_view part, std::size_t begin, token_list& to) const {
    if constexpr (!Ranges) {
      for_each_id(part, [&](std::int32_t id) {
        to.ids.push_back(id);
        return true;
      });
    } else {
      for_each_word<true>(part, characters(), [&](detail::text_slice word, std::size_t count, text_range whole) {
        std::size_t at = 0;
        return for_each_piece_of(word.bytes, count, [&](std::int32_t id, std::size_t end) {
          text_range const r = at == 0 && end == word.bytes.size() ? whole : word.range(at, end);
          to.ids.push_back(id);
          to.ranges.push_back({begin + r.begin, begin + r.end});
          at = end;
          return true;
        });
      });
    }
  }

 private:
  static constexpr std::array<std::string_view, 5> special{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  static constexpr std::uint32_t beginning = 0, continuation = 1;  // the trie's roots

  static std::pair<std::uint32_t, std::string_view> split(std::string_view token) {
    if (token.size() > 2 && token.starts_with("##")) return {continuation, token.substr(2)};
    return {beginning, token};
  }

  wordpiece(std::vector<std::string> tokens, std::string_view source, bert_rules const& rules)
      : tokens_(std::move(tokens)), trie_(2), characters_(rules == bert_uncased ? nullptr : std::make_shared<detail::bert_characters const>(rules)) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      auto const fail = [&](std::string const& what) {
        throw format_error(std::string(source) + ':' + std::to_string(i + 1) + ": " + what);
      };
      if (tokens_[i].empty()) fail("the token is empty");
      if (!io::is_utf8(tokens_[i])) fail("not UTF-8");
      // Neither would be read again as it was.
      if (tokens_[i].ends_with('\r')) fail("the token ends in a carriage return");
      if (i == 0 && tokens_[i].starts_with(byte_order_mark)) fail("the token begins with a byte order mark");
      auto const [root, text] = split(tokens_[i]);
      if (!trie_.insert(root, text, static_cast<std::int32_t>(i))) fail(io::shown(tokens_[i]) + " is given twice");
    }
    for (std::size_t i = 0; i < special.size(); ++i) special_[i] = id(special[i]).value_or(-1);
  }

  detail::bert_characters const& characters() const { return characters_ != nullptr ? *characters_ : detail::bert_characters::uncased(); }

  // Calls each(id, end) for the pieces of a word and where they end in it, until it returns false; each(unknown, word.size()) where it has none.
  template <class Each>
  bool for_each_piece_of(std::string_view word, std::size_t characters, Each&& each) const {
    if (characters > max_word_characters) return each(unk_id(), word.size());
    std::array<std::pair<std::int32_t, std::uint16_t>, max_word_characters> pieces;
    std::size_t count = 0;
    for (std::size_t at = 0; at < word.size();) {
      auto const match = trie_.longest(at == 0 ? beginning : continuation, word.substr(at));
      if (match.id < 0) return each(unk_id(), word.size());
      at += match.length;
      pieces[count++] = {match.id, static_cast<std::uint16_t>(at)};
    }
    for (std::size_t i = 0; i < count; ++i)
      if (!each(pieces[i].first, pieces[i].second)) return false;
    return true;
  }
  // Calls each(id) until it returns false.
  template <class Each>
  void for_each_id(std::string_view text, Each&& each) const {
    for_each_word(text, this->characters(), [&](std::string_view word, std::size_t characters) {
      return for_each_piece_of(word, characters, [&](std::int32_t id, std::size_t) { return each(id); });
    });
  }

  std::vector<std::string> tokens_;
  detail::piece_trie trie_;
  std::shared_ptr<detail::bert_characters const> characters_;  // null: as uncased models split
  std::array<std::int32_t, 5> special_{};
};

}  // namespace tx::text
