// TwinBERT's tri-letter tokenizer: a word is the set of its letter trigrams, `cat` being #ca, cat and at#.
#pragma once

#include <tx/core/error.hpp>
#include <tx/io/files.hpp>
#include <tx/io/utf8.hpp>
#include <tx/text/lines.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tx::text {

namespace detail {

inline constexpr std::string_view trigram_alphabet = "#0123456789abcdefghijklmnopqrstuvwxyz";

// Place in the alphabet by byte, upper case as lower; 255 for none.
inline constexpr auto trigram_indices = [] {
  std::array<std::uint8_t, 256> indices{};
  for (auto& i : indices) i = 255;
  for (std::size_t i = 0; i < trigram_alphabet.size(); ++i) {
    auto const c = static_cast<unsigned char>(trigram_alphabet[i]);
    indices[c] = static_cast<std::uint8_t>(i);
    if (c >= 'a') indices[c - 'a' + 'A'] = static_cast<std::uint8_t>(i);
  }
  return indices;
}();

}  // namespace detail

struct tri_letter_limits {
  std::size_t words = 12;    // of a text; further ones are cut off
  std::size_t letters = 20;  // trigrams of a word; further ones are cut off
};

// Text is lower-cased (ASCII), everything but letters, digits and the space is dropped, which joins what a tab or a
// hyphen kept apart, and spaces separate the words. A trigram's id is its line in the vocabulary, counted from 1; 0
// stands for unknown trigrams. As in TwinBERT, a text without words has the one word `#`, hence the one trigram ###.
// Const members may be called from several threads.
class tri_letter {
 public:
  using limits = tri_letter_limits;
  static constexpr std::int32_t unknown = 0;
  static constexpr std::int32_t no_trigram = -1;

  // Learns the trigrams of texts, most frequent first, equally frequent ones in byte order, at most `size` of them. The
  // limits do not cut what is learned from. Throws value_error without texts or for a size of 0.
  static tri_letter learn(std::span<std::string const> texts, std::size_t size, limits most = {}) {
    if (texts.empty() || size == 0) throw value_error("tri_letter::learn: there is nothing to learn");
    std::vector<std::int64_t> counts(codes);
    for (auto const& text : texts) {
      for_each_trigram(text, {SIZE_MAX, SIZE_MAX}, [&](std::size_t, std::size_t, std::size_t code) { ++counts[code]; });
    }
    std::vector<std::size_t> order;
    for (std::size_t code = 0; code < codes; ++code) {
      if (counts[code] > 0) order.push_back(code);
    }
    // Codes ascend as the trigrams' bytes do.
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
    order.resize(std::min(order.size(), size));
    std::vector<std::string> trigrams;
    for (std::size_t const code : order) {
      trigrams.push_back({detail::trigram_alphabet[code / (37 * 37)], detail::trigram_alphabet[code / 37 % 37],
                          detail::trigram_alphabet[code % 37]});
    }
    return tri_letter(std::move(trigrams), most, "learned vocabulary");
  }

  // A file with a trigram a line. A line that no text can hold (blank, or with other characters) takes up its id all
  // the same. Throws io_error, or format_error for an empty file, a repeated trigram or a line that is no entry at all.
  static tri_letter load(std::filesystem::path const& path, limits most = {}) {
    return parse(io::read_text(path), path.string(), most);
  }
  static tri_letter parse(std::string_view text, std::string_view source, limits most = {}) {
    std::vector<std::string> lines;
    for_each_line(text, [&](std::string_view line, std::size_t number) {
      if (line.size() > 16 || line.find_first_of(" \t\r") != std::string_view::npos ||
          line.starts_with(byte_order_mark) || !io::is_utf8(line)) {
        throw format_error(std::string(source) + ':' + std::to_string(number) + ": " + io::shown(line) +
                           " is no trigram");
      }
      lines.emplace_back(line);
    });
    if (lines.empty()) throw format_error(std::string(source) + ": the vocabulary is empty");
    return tri_letter(std::move(lines), most, source);
  }

  // As a file holds it.
  std::string text() const {
    std::string lines;
    for (auto const& t : trigrams_) lines += t + '\n';
    return lines;
  }
  void save(std::filesystem::path const& path) const { io::write_file_atomic(path, text()); }

  // Rows an embedding table needs: every trigram and the unknown one.
  std::size_t size() const { return trigrams_.size() + 1; }
  std::vector<std::string> const& trigrams() const { return trigrams_; }
  limits const& shape() const { return most_; }
  std::size_t slots() const { return most_.words * most_.letters; }

  std::int32_t id(std::string_view trigram) const {
    auto const code = code_of(trigram);
    return code ? ids_[*code] : unknown;
  }

  // Fills ids, slots() of them, word by word; -1 where there is no trigram. Returns the number of words, at least 1.
  // Throws value_error if ids has another length.
  std::size_t encode(std::string_view text, std::span<std::int32_t> ids) const {
    if (ids.size() != slots()) {
      throw value_error("tri_letter::encode: room for " + std::to_string(ids.size()) +
                        " ids where words x letters is " + std::to_string(slots()));
    }
    std::ranges::fill(ids, no_trigram);
    return for_each_trigram(text, most_, [&](std::size_t word, std::size_t letter, std::size_t code) {
      ids[word * most_.letters + letter] = ids_[code];
    });
  }

 private:
  static constexpr std::size_t codes = 37 * 37 * 37;

  static std::size_t index(char c) { return detail::trigram_indices[static_cast<unsigned char>(c)]; }

  static std::optional<std::size_t> code_of(std::string_view trigram) {
    if (trigram.size() != 3) return std::nullopt;
    std::size_t code = 0;
    for (char const c : trigram) {
      if (index(c) >= 37 || (c >= 'A' && c <= 'Z')) return std::nullopt;
      code = code * 37 + index(c);
    }
    return code;
  }

  // Calls each(word, trigram's place in it, code) and returns the number of words.
  template <class Each>
  static std::size_t for_each_trigram(std::string_view text, limits most, Each&& each) {
    std::size_t words = 0, letters = 0, code = 0;
    auto const add = [&](std::size_t i) {
      code = code * 37 % codes + i;
      // The word's opening # and first letter make no trigram yet.
      if (++letters >= 2 && letters - 2 < most.letters) each(words, letters - 2, code);
    };
    auto const end_word = [&] {
      if (letters > 0) {
        add(0);
        ++words;
      }
      letters = code = 0;
    };
    for (char const c : text) {
      if (words >= most.words) return words;
      if (c == ' ')
        end_word();
      else if (index(c) < 37 && c != '#')
        add(index(c));
    }
    end_word();
    if (words == 0 && most.words > 0) {
      add(0);
      end_word();
    }
    return words;
  }

  tri_letter(std::vector<std::string> trigrams, limits most, std::string_view source)
      : trigrams_(std::move(trigrams)), most_(most), ids_(codes, unknown) {
    if (most.words == 0 || most.letters == 0) throw value_error("tri_letter: words and letters must be at least 1");
    if (trigrams_.size() >= INT32_MAX) throw format_error(std::string(source) + ": too many trigrams");
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < trigrams_.size(); ++i) {
      if (!trigrams_[i].empty() && !seen.insert(trigrams_[i]).second) {
        throw format_error(std::string(source) + ':' + std::to_string(i + 1) + ": " + io::shown(trigrams_[i]) +
                           " is given twice");
      }
      if (auto const code = code_of(trigrams_[i])) ids_[*code] = static_cast<std::int32_t>(i + 1);
    }
  }

  std::vector<std::string> trigrams_;
  limits most_;
  std::vector<std::int32_t> ids_;  // by trigram code
};

}  // namespace tx::text
