// Byte-level byte pair encoding, as GPT-2 and RoBERTa use it: text to ids of byte strings and back, every text and without an unknown token.
// (R. Sennrich, B. Haddow, A. Birch, Neural Machine Translation of Rare Words with Subword Units, arXiv 1508.07909.)
//
//   auto const coder = tx::text::byte_pairs::load("vocab.json", "merges.txt");
//   std::vector<std::int32_t> ids = coder.encode("Hello world");
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/json.hpp>
#include <tx/text/byte_level.hpp>
#include <tx/text/byte_names.hpp>
#include <tx/text/lines.hpp>
#include <tx/text/text_range.hpp>
#include <tx/text/token_ids.hpp>

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tx::text {

// Const members may be called from several threads.
class byte_pairs {
 public:
  using merge = std::pair<std::string, std::string>;

  // Two tokens with a space between them; nothing where a line is not that.
  static std::optional<merge> merge_of(std::string_view line) {
    auto const space = line.find(' ');
    if (space == std::string_view::npos || space == 0 || space + 1 == line.size() || line.find(' ', space + 1) != std::string_view::npos) return std::nullopt;
    return merge{line.substr(0, space), line.substr(space + 1)};
  }

  // Throws io_error, or format_error naming the file and what is wrong in it: an id that is given twice or left out, a merge whose parts or whole are no
  // tokens, a byte that no token stands for.
  static byte_pairs load(std::filesystem::path const& vocabulary, std::filesystem::path const& merges) {
    return parse(io::read_text(vocabulary), io::read_text(merges), vocabulary.string(), merges.string());
  }
  static byte_pairs parse(std::string_view vocabulary, std::string_view merges, std::string_view source, std::string_view merges_source) {
    std::vector<merge> all;
    for_each_line(merges, [&](std::string_view line, std::size_t number) {
      if (line.empty() || (number == 1 && line.starts_with("#version"))) return;
      auto two = merge_of(line);
      if (!two) throw format_error(std::string(merges_source) + ':' + std::to_string(number) + ": not two tokens with a space between them");
      all.push_back(*std::move(two));
    });
    return byte_pairs(io::parse_json(vocabulary, source), all, source);
  }
  // vocabulary: an object of ids by token, as vocab.json and the model of a tokenizer.json have it.
  byte_pairs(nlohmann::json const& vocabulary, std::vector<merge> const& merges, std::string_view source) : source_(source) {
    read_vocabulary(vocabulary);
    for (std::size_t b = 0; b < 256; ++b) {
      std::string const one(1, static_cast<char>(b));
      auto const at = ids_.find(one);
      if (at == ids_.end()) fail("has no token for the byte " + std::to_string(b));
      byte_ids_[b] = at->second;
    }
    for (std::size_t k = 0; k < merges.size(); ++k) add_merge(merges[k], static_cast<std::int32_t>(k));
  }

  std::size_t size() const { return tokens_.size(); }
  // The bytes that a token stands for; those of a special token are its name.
  std::string const& bytes(std::int32_t id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= tokens_.size()) throw value_error("byte_pairs: no token has the id " + std::to_string(id));
    return tokens_[static_cast<std::size_t>(id)];
  }
  // Its name in the vocabulary, as "<s>" or "Ġthe".
  std::string name(std::int32_t id) const {
    std::string const& own = bytes(id);
    auto const at = ids_.find(own);
    return at != ids_.end() && at->second == id ? detail::name_of_bytes(own) : own;
  }
  // By that.
  std::optional<std::int32_t> id(std::string const& name) const {
    auto const at = names_.find(name);
    return at == names_.end() ? std::nullopt : std::optional(at->second);
  }

  std::vector<std::int32_t> encode(std::string_view text) const {
    std::vector<std::int32_t> out;
    for_each_joined(text, [&](std::vector<std::int32_t> const& piece) { out.insert(out.end(), piece.begin(), piece.end()); });
    return out;
  }
  // The tokens of a part of a text that begins at byte `begin` of it, behind those that are there, with a space before it if `space` is; that is not in the
  // text, and counts to its first character. A token of some of a character's bytes has the range of all of them.
  template <bool Ranges>
  void append(std::string_view part, std::size_t begin, bool space, token_list& to) const {
    std::string spaced;
    if (space) spaced = ' ' + std::string(part);
    if (part.empty()) return;
    io::code_point character{0, 0, true};
    std::size_t first = 0, at = 0;  // where the character begins; where the token does, the space included
    for_each_joined(space ? spaced : part, [&](std::vector<std::int32_t> const& piece) {
      to.ids.insert(to.ids.end(), piece.begin(), piece.end());
      if constexpr (Ranges)
        for (std::int32_t const id : piece) {
          auto const reach = [&](std::size_t place) {  // the character that has this byte
            while (first + character.length <= place) {
              first += character.length;
              character = io::decode_utf8(part, first);
            }
          };
          std::size_t const end = at + bytes(id).size(), shift = space ? 1 : 0;
          reach(std::max(at, shift) - shift);
          std::size_t const from = first;
          reach(std::max(end - 1, shift) - shift);
          to.ranges.push_back({begin + from, begin + first + character.length});
          at = end;
        }
    });
  }
  // The bytes of the tokens one behind the other; cut anywhere they may be no whole characters.
  std::string decode(std::span<std::int32_t const> ids) const {
    std::string out;
    for (std::int32_t const i : ids) out += bytes(i);
    return out;
  }

 private:
  struct joined {
    std::int32_t rank, id;
  };
  static constexpr joined none{INT32_MAX, -1};

  [[noreturn]] void fail(std::string const& what) const { throw format_error(source_ + ": " + what); }

  // Calls each(ids) for the pieces that a text is cut into.
  template <class Each>
  void for_each_joined(std::string_view text, Each&& each) const {
    std::vector<std::int32_t> piece;
    for_each_piece(text, [&](std::string_view bytes) {
      piece.clear();
      for (char const b : bytes) piece.push_back(byte_ids_[static_cast<unsigned char>(b)]);
      join(piece);
      each(piece);
    });
  }

  void read_vocabulary(nlohmann::json const& vocabulary) {
    tokens_ = detail::tokens_by_id(vocabulary, source_);
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      auto const id = static_cast<std::int32_t>(i);
      names_.emplace(tokens_[i], id);
      auto bytes = detail::bytes_of_name(tokens_[i]);
      if (!bytes) continue;
      if (!bytes->empty()) ids_.emplace(*bytes, id);
      tokens_[i] = *std::move(bytes);
    }
  }
  void add_merge(merge const& m, std::int32_t rank) {
    auto const find = [&](std::string const& name) {
      auto const at = names_.find(name);
      if (at == names_.end()) fail("the merge number " + std::to_string(rank + 1) + " is of " + io::shown(name) + ", which is no token");
      return at->second;
    };
    std::int32_t const left = find(m.first), right = find(m.second);
    merges_.insert_or_assign(key(left, right), joined{rank, find(m.first + m.second)});  // of one that is given twice the last counts
  }

  static std::uint64_t key(std::int32_t left, std::int32_t right) { return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right); }
  joined pair(std::int32_t left, std::int32_t right) const {
    auto const at = merges_.find(key(left, right));
    return at == merges_.end() ? none : at->second;
  }

  // Joins the pair of the lowest rank, the first of several, until there is none.
  void join(std::vector<std::int32_t>& ids) const {
    if (ids.size() < 2) return;
    if (ids.size() > 64) return join_long(ids);
    std::array<joined, 64> pairs;
    std::size_t n = ids.size() - 1;
    for (std::size_t k = 0; k < n; ++k) pairs[k] = pair(ids[k], ids[k + 1]);
    while (n > 0) {
      std::size_t best = 0;
      for (std::size_t k = 1; k < n; ++k)
        if (pairs[k].rank < pairs[best].rank) best = k;
      if (pairs[best].id < 0) break;
      ids[best] = pairs[best].id;
      for (std::size_t k = best + 1; k < n; ++k) {
        ids[k] = ids[k + 1];
        pairs[k - 1] = pairs[k];
      }
      --n;
      if (best > 0) pairs[best - 1] = pair(ids[best - 1], ids[best]);
      if (best < n) pairs[best] = pair(ids[best], ids[best + 1]);
    }
    ids.resize(n + 1);
  }

  // The same in n log n: pairs wait in a queue, and tokens know their neighbours.
  void join_long(std::vector<std::int32_t>& ids) const;

  std::string source_;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string, std::int32_t> names_, ids_;
  std::array<std::int32_t, 256> byte_ids_{};
  std::unordered_map<std::uint64_t, joined> merges_;
};

inline void byte_pairs::join_long(std::vector<std::int32_t>& ids) const {
  struct waiting {
    std::int32_t rank;
    std::uint32_t at;
    std::int32_t left, right, whole;
  };
  auto const later = [](waiting const& a, waiting const& b) { return a.rank != b.rank ? a.rank > b.rank : a.at > b.at; };
  std::vector<waiting> queue;
  auto const end = static_cast<std::uint32_t>(ids.size());
  std::vector<std::uint32_t> next(end), before(end);
  auto const offer = [&](std::uint32_t at) {
    if (at >= end || next[at] >= end) return;
    joined const j = pair(ids[at], ids[next[at]]);
    if (j.id < 0) return;
    queue.push_back({j.rank, at, ids[at], ids[next[at]], j.id});
    std::ranges::push_heap(queue, later);
  };
  for (std::uint32_t k = 0; k < end; ++k) {
    next[k] = k + 1;
    before[k] = k == 0 ? end : k - 1;
  }
  for (std::uint32_t k = 0; k < end; ++k) offer(k);
  while (!queue.empty()) {
    std::ranges::pop_heap(queue, later);
    waiting const w = queue.back();
    queue.pop_back();
    if (ids[w.at] != w.left || next[w.at] >= end || ids[next[w.at]] != w.right) continue;  // one of them has been joined since
    std::uint32_t const gone = next[w.at];
    ids[w.at] = w.whole;
    ids[gone] = -1;
    next[w.at] = next[gone];
    if (next[gone] < end) before[next[gone]] = w.at;
    offer(w.at);
    offer(before[w.at]);
  }
  std::erase(ids, -1);
}

}  // namespace tx::text
