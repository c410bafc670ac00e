// Words of every code point and of drawn texts, against what Hugging Face's tokenizers make of them.
#include "bert_words_reference.hpp"
#include "drawn_texts.hpp"

#include <tx/text/basic_tokenizer.hpp>

#include <catch2/catch.hpp>

namespace {

namespace reference = bert_words_reference;

// Of words that 0xFF ends and of texts that 0xFE ends.
struct word_sum : byte_sum {
  void add_words(std::string_view text, tx::text::detail::bert_characters const& table) {
    tx::text::for_each_word(text, table, [&](std::string_view word, std::size_t) {
      add(word);
      add("\xff");
      return true;
    });
    add("\xfe");
  }
};

TEST_CASE("every code point becomes what the reference makes of it", "[bert_words]") {
  for (std::size_t r = 0; r < std::size(reference::rules); ++r) {
    tx::text::detail::bert_characters const table(reference::rules[r]);
    char32_t c = 0;
    for (std::uint32_t const wanted : reference::points[r]) {
      word_sum s;
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
    text_draws d;
    for (std::uint32_t const wanted : reference::drawn[r]) {
      word_sum s;
      for (int k = 0; k < reference::texts; ++k) s.add_words(d.text(), table);
      CAPTURE(r);
      CHECK(s.value == wanted);
    }
  }
}

}  // namespace
