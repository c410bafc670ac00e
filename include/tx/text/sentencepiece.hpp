// The tokenizer of a file of SentencePiece whose model is unigram, with the ids that its own package gives.
// (T. Kudo, J. Richardson, SentencePiece, arXiv 1808.06226.)
//
//   auto const coder = tx::text::sentencepiece::load("spiece.model");
//   std::vector<std::int32_t> ids = coder.encode("Hello world");
#pragma once

#include <tx/text/charsmap.hpp>
#include <tx/text/sentencepiece_model.hpp>
#include <tx/text/unigram.hpp>

#include <memory>
#include <unordered_map>

namespace tx::text {

// Control pieces, as "</s>", are not found in texts; they have ids by their names. Bytes that are not UTF-8 become U+FFFD, each its own. Const members may be
// called from several threads.
class sentencepiece {
 public:
  static sentencepiece load(std::filesystem::path const& path) { return sentencepiece(sentencepiece_model::load(path), path.string()); }
  // Throws format_error that names `source`: a piece that is given twice, no unknown piece or two, a byte that lacks its piece where byte_fallback is set.
  sentencepiece(sentencepiece_model model, std::string const& source) : model_(std::move(model)) {
    auto const fail = [&](std::string const& what) { throw format_error(source + ": " + what); };
    std::vector<std::pair<std::string_view, std::int32_t>> strings, protected_strings;
    float least = std::numeric_limits<float>::max();
    bytes_.fill(-1);
    for (std::size_t i = 0; i < model_.pieces.size(); ++i) {
      using enum sentencepiece_model::kind;
      auto const& p = model_.pieces[i];
      auto const id = static_cast<std::int32_t>(i);
      if (p.type == unused && p.text == std::string_view("\0", 1)) continue;
      if (p.text.find('\0') != std::string::npos) fail("the piece " + std::to_string(i) + " has a zero in it");
      bool const is_found = p.type == normal || p.type == user_defined || p.type == unused;
      if (!(is_found ? found_ : reserved_).emplace(p.text, id).second) fail("the piece " + io::shown(p.text) + " is given twice");
      if (p.type == normal || p.type == user_defined) strings.emplace_back(p.text, id);
      if (p.type == user_defined) protected_strings.emplace_back(p.text, id);
      if (p.type == normal) least = std::min(least, p.score);
      if (p.type == unknown) {
        if (unknown_ >= 0) fail("there are two unknown pieces");
        unknown_ = id;
      }
      if (p.type == byte) {
        if (!model_.byte_fallback) fail("the piece " + io::shown(p.text) + " is of a byte, but byte_fallback is not set");
        int const b = byte_of(p.text);
        if (b < 0) fail("the piece " + io::shown(p.text) + " is of no byte");
        bytes_[static_cast<std::size_t>(b)] = id;
      }
    }
    if (unknown_ < 0) fail("there is no unknown piece");
    for (std::size_t b = 0; model_.byte_fallback && b < 256; ++b)
      if (bytes_[b] < 0) fail("the byte " + std::to_string(b) + " has no piece");
    if (strings.empty()) fail("there is no piece that texts are of");
    if (!model_.charsmap.empty()) map_ = std::make_shared<detail::charsmap const>(model_.charsmap, source);
    unknown_score_ = least - 10.0f;
    pieces_ = detail::byte_automaton(std::move(strings));
    protected_ = detail::byte_automaton(std::move(protected_strings));
  }

  std::size_t size() const { return model_.pieces.size(); }
  std::int32_t unknown() const { return unknown_; }
  std::string const& text(std::int32_t id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= size()) throw value_error("sentencepiece: no piece has the id " + std::to_string(id));
    return model_.pieces[static_cast<std::size_t>(id)].text;
  }
  std::optional<std::int32_t> id(std::string const& piece) const {
    for (auto const* in : {&reserved_, &found_})
      if (auto const at = in->find(piece); at != in->end()) return at->second;
    return std::nullopt;
  }

  std::vector<std::int32_t> encode(std::string_view text) const {
    token_list out;
    append<false>(text, 0, out);
    return std::move(out.ids);
  }
  // The tokens of a text that begins at byte `begin` of what ranges count in, behind those that are there. Of the bytes of a character that has no piece the
  // last has the character's range, the others are empty.
  template <bool Ranges>
  void append(std::string_view text, std::size_t begin, token_list& to) const {
    each<Ranges>(text, begin, [&](std::int32_t id, std::string_view, text_range where) {
      to.ids.push_back(id);
      if constexpr (Ranges) to.ranges.push_back(where);
    });
  }
  // Calls token(id, unknown, range) for them, in order; unknown: of the unknown piece the changed characters that it stands for, as long as the call lasts.
  template <bool Ranges, class Token>
  void each(std::string_view text, std::size_t begin, Token&& token) const {
    changed now{begin, {}, {}};
    change<Ranges>(text, now);
    std::string_view const all = now.bytes;
    detail::best_path<float> work;
    work.find(pieces_, all, unknown_score_, unknown_, [&](std::int32_t id, std::size_t bytes) {
      auto const& p = model_.pieces[static_cast<std::size_t>(id)];
      return p.type == sentencepiece_model::kind::user_defined ? static_cast<float>(0.1 * (static_cast<double>(bytes) - 1)) : p.score;
    });
    auto const range = [&](std::size_t from, std::size_t end) { return Ranges ? text_range{now.from[from], now.from[end]} : text_range{}; };
    std::size_t from = 0;
    for (std::size_t k = work.path.size(); k-- > 0;) {
      std::int32_t const id = work.ends[work.path[k]].id;
      bool const is_unknown = id == unknown_, of_bytes = is_unknown && model_.byte_fallback;
      while (is_unknown && !of_bytes && k > 0 && work.ends[work.path[k - 1]].id == unknown_) --k;  // characters that have no piece are one token
      std::size_t const end = work.path[k];
      if (of_bytes)
        for (std::size_t i = from; i < end; ++i) token(bytes_[static_cast<unsigned char>(all[i])], std::string_view(), range(from, i + 1 == end ? end : from));
      else token(id, is_unknown ? all.substr(from, end - from) : std::string_view(), range(from, end));
      from = end;
    }
  }

 private:
  struct changed {
    std::size_t read;  // where the text is read
    std::string bytes;
    std::vector<std::size_t> from;  // where what each byte is of begins, and where the last of it ends
  };

  static int byte_of(std::string_view piece) {
    auto const digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1; };
    if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
    int const high = digit(piece[3]), low = digit(piece[4]);
    return high < 0 || low < 0 ? -1 : 16 * high + low;
  }

  // What a text that is not empty begins with: how many bytes of it, and what they become. Pieces that users defined stay as they are.
  detail::charsmap::match first_of(std::string_view text) const {
    std::size_t longest = 0;
    std::uint32_t node = detail::byte_automaton::root;
    for (std::size_t i = 0; i < text.size() && protected_.step(node, text[i]); ++i)
      if (protected_.id(node) >= 0) longest = i + 1;
    if (longest > 0) return {longest, text.substr(0, longest)};
    if (map_ != nullptr)
      if (auto const found = map_->longest(text); found.length > 0) return found;
    io::code_point const c = io::decode_utf8(text, 0);
    if (c.valid) return {c.length, text.substr(0, c.length)};
    return {1, "\uFFFD"};
  }

  template <bool Ranges>
  void change(std::string_view text, changed& to) const {
    std::string_view const mark = model_.escape_spaces ? "\u2581" : " ";
    auto const put = [&](std::string_view what) {
      to.bytes += what;
      if constexpr (Ranges) to.from.resize(to.bytes.size(), to.read);
    };
    auto const take = [&](std::size_t count) {
      text.remove_prefix(count);
      to.read += count;
    };
    bool const remove = model_.remove_spaces;
    while (remove && !text.empty()) {
      auto const first = first_of(text);
      if (first.to != " ") break;
      take(first.length);
    }
    if (text.empty()) return;
    if (!model_.space_behind && model_.prefix_space) put(mark);
    for (bool after_space = remove; !text.empty();) {
      auto const first = first_of(text);
      std::string_view now = first.to;
      while (after_space && now.starts_with(' ')) now.remove_prefix(1);
      for (std::size_t i = 0; i < now.size(); ++i) put(now[i] == ' ' ? mark : now.substr(i, 1));
      if (!now.empty()) after_space = remove && now.ends_with(' ');
      take(first.length);
    }
    while (remove && to.bytes.ends_with(mark)) {
      to.bytes.erase(to.bytes.size() - mark.size());
      if constexpr (Ranges) {
        to.read = to.from[to.bytes.size()];
        to.from.resize(to.bytes.size());
      }
    }
    if (model_.space_behind && model_.prefix_space) put(mark);
    if constexpr (Ranges) to.from.push_back(to.read);
  }

  sentencepiece_model model_;
  std::unordered_map<std::string, std::int32_t> found_, reserved_;  // pieces that texts are taken apart into, and others
  detail::byte_automaton pieces_, protected_;
  std::shared_ptr<detail::charsmap const> map_;
  std::array<std::int32_t, 256> bytes_{};
  std::int32_t unknown_ = -1;
  float unknown_score_ = 0;
};

}  // namespace tx::text
