// What a tokenizer.json lists under decoder: changes of a list of tokens that make a text of it, one after the other.
#pragma once

#include <tx/text/byte_names.hpp>
#include <tx/text/text_changes.hpp>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tx::text::detail {

using token_texts = std::vector<std::string>;

inline void replace_all(std::string& text, std::string_view what, std::string_view by) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, from)) {
    out.append(text, from, at - from);
    out += by;
    from = at + what.size();
  }
  if (from > 0) text = out.append(text, from);
}

// WordPiece: each token is a word of its own unless it begins with the prefix.
struct joined_words {
  std::string prefix;
  bool clean;  // no space before punctuation and what English shortens

  void apply(token_texts& tokens) const {
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      std::string& t = tokens[k];
      if (k > 0) {
        if (t.starts_with(prefix)) t.erase(0, prefix.size());
        else t.insert(t.begin(), ' ');
      }
      if (clean) clean_up(t);
    }
  }

 private:
  static void clean_up(std::string& t) {
    static constexpr std::pair<std::string_view, std::string_view> changes[] = {{" .", "."},     {" ?", "?"},   {" !", "!"},           {" ,", ","},
                                                                                {" ' ", "'"},    {" n't", "n't"}, {" 'm", "'m"},        {" do not", " don't"},
                                                                                {" 's", "'s"},   {" 've", "'ve"}, {" 're", "'re"}};
    for (auto const& [what, by] : changes) replace_all(t, what, by);
  }
};

// BPEDecoder: the end of a word becomes a space, but behind the last.
struct ended_words {
  std::string suffix;

  void apply(token_texts& tokens) const {
    for (std::size_t k = 0; k < tokens.size(); ++k) replace_all(tokens[k], suffix, k + 1 == tokens.size() ? "" : " ");
  }
};

// ByteLevel: characters stand for bytes, and the bytes together are UTF-8.
struct named_bytes {
  void apply(token_texts& tokens) const {
    std::string all;
    for (std::string const& t : tokens) all += bytes_of_name(t).value_or(t);
    tokens = {io::valid_utf8(all)};
  }
};

// Metaspace: a mark becomes a space or, where texts begin with one that was put there, nothing in the first token.
struct marked_spaces {
  std::string mark;
  bool begins;

  void apply(token_texts& tokens) const {
    for (std::size_t k = 0; k < tokens.size(); ++k) replace_all(tokens[k], mark, k == 0 && begins ? "" : " ");
  }
};

// Replace.
struct replaced_in_tokens {
  replaced_strings how;

  void apply(token_texts& tokens) const {
    for (std::string& t : tokens) {
      changed_text room;
      t = std::string(how.apply({t}, room).text.bytes);
    }
  }
};

// ByteFallback: <0x41> is a byte. Bytes beside each other that are no UTF-8 become U+FFFD, each of them.
struct numbered_bytes {
  void apply(token_texts& tokens) const {
    token_texts out;
    std::string bytes;
    auto const end_bytes = [&] {
      if (io::is_utf8(bytes) && !bytes.empty()) out.push_back(bytes);
      else out.insert(out.end(), bytes.size(), "\uFFFD");
      bytes.clear();
    };
    for (std::string& t : tokens) {
      if (auto const byte = byte_of(t)) {
        bytes.push_back(*byte);
      } else {
        end_bytes();
        out.push_back(std::move(t));
      }
    }
    end_bytes();
    tokens = std::move(out);
  }

 private:
  // A plus before one digit is a number to the reference.
  static std::optional<char> byte_of(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return std::nullopt;
    char const* const begin = token.data() + (token[3] == '+' ? 4 : 3);
    char const* const end = token.data() + 5;
    unsigned char value = 0;
    auto const [at, code] = std::from_chars(begin, end, value, 16);
    if (code != std::errc{} || at != end) return std::nullopt;
    return static_cast<char>(value);
  }
};

// Fuse: all tokens are one.
struct fused_tokens {
  void apply(token_texts& tokens) const {
    std::string all;
    for (std::string const& t : tokens) all += t;
    tokens = {std::move(all)};
  }
};

// Strip: so many of a character are taken from each token's ends, where they are there.
struct stripped_tokens {
  std::string what;
  std::size_t start, stop;

  void apply(token_texts& tokens) const {
    for (std::string& t : tokens) {
      std::string_view now = t;
      for (std::size_t k = 0; k < start && now.starts_with(what); ++k) now.remove_prefix(what.size());
      for (std::size_t k = 0; k < stop && now.ends_with(what); ++k) now.remove_suffix(what.size());
      t = std::string(now);
    }
  }
};

using decoder_step = std::variant<joined_words, ended_words, named_bytes, marked_spaces, replaced_in_tokens, numbered_bytes, fused_tokens, stripped_tokens>;

}  // namespace tx::text::detail
