// The unigram model of SentencePiece: of all ways to take a text apart into pieces, that whose scores have the largest sum.
// (T. Kudo, Subword Regularization, arXiv 1804.10959.)
#pragma once

#include <tx/core/error.hpp>
#include <tx/text/byte_automaton.hpp>
#include <tx/text/text_range.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tx::text {

namespace detail {

// The best way to take apart what lies before a place of a text: the piece that ends there, and where that begins.
template <class Score>
struct best_end {
  static constexpr std::uint32_t nowhere = UINT32_MAX;

  Score score = 0;
  std::int32_t id = -1;
  std::uint32_t from = nowhere;
};

// What is needed to take texts apart one after the other.
template <class Score>
struct best_path {
  std::vector<best_end<Score>> ends;  // at each byte
  std::vector<std::uint32_t> path;    // where pieces end, the last first

  // score_of(id, bytes) of a piece. A character that is no piece is the unknown one. The text is UTF-8.
  template <class ScoreOf>
  void find(byte_automaton const& pieces, std::string_view text, Score unknown_score, std::int32_t unknown, ScoreOf&& score_of) {
    if (text.size() >= best_end<Score>::nowhere) throw value_error("a text of 4 GiB has too many pieces");
    ends.assign(text.size() + 1, {});
    std::size_t furthest = 0;
    auto const offer = [&](std::size_t from, std::size_t end, std::int32_t id, Score score) {
      best_end<Score>& e = ends[end];
      if (e.from == best_end<Score>::nowhere || score > e.score) e = {score, id, static_cast<std::uint32_t>(from)};
      furthest = std::max(furthest, end);
    };
    for (std::size_t from = 0; from < text.size();) {
      // Sums of single precision are kept small, as sentencepiece does.
      if constexpr (std::is_same_v<Score, float>)
        if (Score const so_far = ends[from].score; so_far < -100000 || so_far > 100000)
          for (std::size_t k = from; k <= furthest; ++k)
            if (k == from || ends[k].from != best_end<Score>::nowhere) ends[k].score -= so_far;
      Score const so_far = ends[from].score;
      std::size_t const character = length_of(text[from]);
      bool is_piece = false;
      std::uint32_t node = byte_automaton::root;
      for (std::size_t end = from; end < text.size() && pieces.step(node, text[end]);) {
        ++end;
        std::int32_t const id = pieces.id(node);
        if (id < 0) continue;
        offer(from, end, id, score_of(id, end - from) + so_far);
        is_piece |= end - from == character;
      }
      if (!is_piece) offer(from, std::min(from + character, text.size()), unknown, unknown_score + so_far);
      from += character;
    }
    path.clear();
    for (std::size_t end = text.size(); end > 0; end = ends[end].from) path.push_back(static_cast<std::uint32_t>(end));
  }

 private:
  static std::size_t length_of(char first) {
    auto const byte = static_cast<unsigned char>(first);
    return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
  }
};

}  // namespace detail

// Pieces with scores, id = place, as tokenizer.json has them. Const members may be called from several threads.
class unigram {
 public:
  using piece = std::pair<std::string, double>;
  using workspace = detail::best_path<double>;

  // unknown: the id of characters that are no piece. With byte_fallback they are the pieces <0x00> to <0xFF> of their bytes, if the vocabulary has those.
  // Throws format_error that names `source` where that id is none.
  unigram(std::vector<piece> pieces, std::size_t unknown, bool byte_fallback, std::string const& source)
      : pieces_(std::move(pieces)), unknown_(static_cast<std::int32_t>(unknown)) {
    if (unknown >= pieces_.size()) throw format_error(source + ": the unk_id " + std::to_string(unknown) + " is none of " + std::to_string(pieces_.size()) + " pieces");
    std::vector<std::pair<std::string_view, std::int32_t>> strings;
    strings.reserve(pieces_.size());
    double least = std::numeric_limits<double>::infinity();
    for (piece const& p : pieces_) {
      strings.emplace_back(p.first, static_cast<std::int32_t>(strings.size()));
      scores_.push_back(p.second);
      least = std::min(least, p.second);
    }
    automaton_ = detail::byte_automaton(std::move(strings));
    unknown_score_ = least - 10;
    bytes_.fill(-1);
    constexpr char const* digits = "0123456789ABCDEF";
    if (byte_fallback)
      for (std::size_t b = 0; b < 256; ++b) bytes_[b] = id(std::string("<0x") + digits[b / 16] + digits[b % 16] + '>').value_or(-1);
  }

  std::size_t size() const { return pieces_.size(); }
  std::string const& text(std::int32_t id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= pieces_.size()) throw value_error("unigram: no piece has the id " + std::to_string(id));
    return pieces_[static_cast<std::size_t>(id)].first;
  }
  std::optional<std::int32_t> id(std::string_view name) const { return automaton_.find(name); }

  // The pieces of a word, which is UTF-8, behind those that are there.
  template <bool Ranges>
  void append(detail::text_slice word, token_list& to, workspace& work) const {
    work.find(automaton_, word.bytes, unknown_score_, unknown_, [&](std::int32_t id, std::size_t) { return scores_[static_cast<std::size_t>(id)]; });
    std::size_t from = 0;
    for (std::size_t k = work.path.size(); k-- > 0;) {
      std::int32_t const id = work.ends[work.path[k]].id;
      while (id == unknown_ && k > 0 && work.ends[work.path[k - 1]].id == unknown_) --k;  // characters that are not known are one token
      std::size_t const end = work.path[k], before = to.ids.size();
      if (id == unknown_) append_unknown(word.bytes.substr(from, end - from), to.ids);
      else to.ids.push_back(id);
      if constexpr (Ranges) to.ranges.insert(to.ranges.end(), to.ids.size() - before, word.range(from, end));
      from = end;
    }
  }

 private:
  void append_unknown(std::string_view text, std::vector<std::int32_t>& ids) const {
    if (auto const whole = id(text)) return ids.push_back(*whole);
    for (char const c : text)
      if (bytes_[static_cast<unsigned char>(c)] < 0) return ids.push_back(unknown_);
    for (char const c : text) ids.push_back(bytes_[static_cast<unsigned char>(c)]);
  }

  std::vector<piece> pieces_;
  std::vector<double> scores_;
  detail::byte_automaton automaton_;
  std::array<std::int32_t, 256> bytes_{};
  std::int32_t unknown_;
  double unknown_score_ = 0;
};

}  // namespace tx::text
