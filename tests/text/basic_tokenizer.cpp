#include <tx/text/basic_tokenizer.hpp>

#include <catch2/catch.hpp>

#include <vector>

using strings = std::vector<std::string>;

namespace {

strings words_of(std::string_view text) {
  strings words;
  tx::text::for_each_word(text, [&](std::string_view word, std::size_t) {
    words.emplace_back(word);
    return true;
  });
  return words;
}

}  // namespace

TEST_CASE("white space separates, punctuation stands alone") {
  CHECK(words_of("").empty());
  CHECK(words_of(" \t\r\n").empty());
  CHECK(words_of("Hello,  World!") == strings{"hello", ",", "world", "!"});
  CHECK(words_of("a-b_c$d`e") == strings{"a", "-", "b", "_", "c", "$", "d", "`", "e"});
  CHECK(words_of("x\u00A0y\u2003z\u3000w\u2028v") == strings{"x", "y", "z", "w", "v"});
  CHECK(words_of("\u201Cquoted\u201D\u2014dash\u2026") ==
        strings{"\u201C", "quoted", "\u201D", "\u2014", "dash", "\u2026"});
}

TEST_CASE("letters lose case and accents") {
  CHECK(words_of("ÀÉÎÕÜ çñÿ") == strings{"aeiou", "cny"});
  CHECK(words_of("ĀĖİŁŒŻ ſ") == strings{"aei\u0142\u0153z", "\u017F"});
  CHECK(words_of("Ø Æ ß Þ Đ") == strings{"\u00F8", "\u00E6", "\u00DF", "\u00FE", "\u0111"});
  CHECK(words_of("e\u0301 n\u0303") == strings{"e", "n"});
  CHECK(words_of("2×3÷4") == strings{"2\u00D73\u00F74"});
}

TEST_CASE("ideographs stand alone, kana do not") {
  CHECK(words_of("ab中文cd") == strings{"ab", "中", "文", "cd"});
  CHECK(words_of("カタカナ") == strings{"カタカナ"});
  CHECK(words_of("\U00020000x") == strings{"\U00020000", "x"});
}

TEST_CASE("controls, format characters and broken bytes vanish") {
  CHECK(words_of(std::string_view("a\0b\x01\x7F", 5)) == strings{"ab"});
  CHECK(words_of("soft\u00ADhyphen \uFEFFmark zero\u200Bwidth") == strings{"softhyphen", "mark", "zerowidth"});
  CHECK(words_of("a\xFF"
                 "b \xE4\xB8"
                 "c \uFFFD") == strings{"ab", "c"});
  CHECK(words_of("\u2764\uFE0F") == strings{"\u2764"});
}

TEST_CASE("so do those of other scripts") {
  CHECK(words_of("Привет ЙОД Ω ΑΣ Ή") == strings{"привет", "иод", "ω", "ασ", "η"});
  CHECK(words_of("Tiếng Việt İstanbul") == strings{"tieng", "viet", "istanbul"});
  CHECK(words_of("각") == strings{"\u1100\u1161\u11A8"});
}

TEST_CASE("marks that stay are put in order") {
  // Of classes 226 and 216. U+0301 is removed and they move past it; U+0941 is removed and they do not.
  CHECK(words_of("x\U0001D16D\u0301\U0001D165y") == strings{"x\U0001D165\U0001D16Dy"});
  CHECK(words_of("x\U0001D16D\u0941\U0001D165y") == strings{"x\U0001D16D\U0001D165y"});
  CHECK(words_of("x\U0001D16Dz\U0001D165y") == strings{"x\U0001D16Dz\U0001D165y"});
  // The first is of three characters, the last two of them marks of class 216.
  CHECK(words_of("\U0001D160\U0001D16D\U0001D165") == strings{"\U0001D158\U0001D165\U0001D16E\U0001D165\U0001D16D"});
}

TEST_CASE("a long word is cut off but counted whole") {
  for (std::size_t const length : {std::size_t{100}, std::size_t{101}, std::size_t{100'000}}) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += "é";
    tx::text::for_each_word(text, [&](std::string_view word, std::size_t characters) {
      CHECK(characters == length);
      CHECK(word == std::string(100, 'e'));
      return true;
    });
  }
}

TEST_CASE("the walk stops when told to") {
  for (char const* text : {"a b c", "a!c", "a中c", ". b", "中 c"}) {
    int calls = 0;
    tx::text::for_each_word(text, [&](std::string_view, std::size_t) {
      ++calls;
      return false;
    });
    CHECK(calls == 1);
  }
}
