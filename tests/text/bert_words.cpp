// Words of every code point and of drawn texts, against what Hugging Face's tokenizers make of them.
#include "bert_words_reference.hpp"

#include <tx/text/basic_tokenizer.hpp>

#include <catch2/catch.hpp>

#include <iterator>

namespace {

struct sum {
  std::uint32_t value = 0x811C9DC5;

  void add(std::string_view bytes) {
    for (char const c : bytes) value = (value ^ static_cast<unsigned char>(c)) * 0x01000193u;
  }
  void add_words(std::string_view text, tx::text::detail::bert_characters const& table) {
    tx::text::for_each_word(text, table, [&](std::string_view word, std::size_t) {
      add(word);
      add("\xff");
      return true;
    });
    add("\xfe");
  }
};

struct draws {
  std::uint64_t state = 1;

  std::uint32_t under(std::uint32_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state >> 33) % n);
  }
  std::string text() {
    std::string out;
    for (std::uint32_t left = 1 + under(12); left > 0; --left) {
      auto const pool = reference::pools[under(std::size(reference::pools))];
      tx::io::append_utf8(out, pool.first + under(static_cast<std::uint32_t>(pool.last - pool.first + 1)));
    }
    return out;
  }
};

TEST_CASE("every code point becomes what the reference makes of it", "[bert_words]") {
  for (std::size_t r = 0; r < std::size(reference::rules); ++r) {
    tx::text::detail::bert_characters const table(reference::rules[r]);
    char32_t c = 0;
    for (std::uint32_t const wanted : reference::points[r]) {
      sum s;
      for (int k = 0; k < reference::block; ++k, ++c) {
        if (c >= 0xD800 && c < 0xE000) continue;
        std::string text = "a";
        tx::io::append_utf8(text, c);
        s.add_words(text + 'b', table);
      }
      CAPTURE(r, c);
      CHECK(s.value == wanted);
    }
  }
}

TEST_CASE("texts of marks, syllables, ideographs and all else become the reference's words", "[bert_words]") {
  for (std::size_t r = 0; r < std::size(reference::rules); ++r) {
    tx::text::detail::bert_characters const table(reference::rules[r]);
    draws d;
    for (std::uint32_t const wanted : reference::drawn[r]) {
      sum s;
      for (int k = 0; k < reference::texts; ++k) s.add_words(d.text(), table);
      CAPTURE(r);
      CHECK(s.value == wanted);
    }
  }
}

}  // namespace
