#include <tx/text/tri_letter.hpp>

#include <catch2/catch.hpp>

#include "../io/temp_folder.hpp"

using Catch::Matchers::Contains;
using tx::text::tri_letter;
using strings = std::vector<std::string>;

namespace {

// The trigrams of a text, word by word, as an encoder of all trigrams sees them.
std::vector<strings> trigrams_of(std::string const& text, tri_letter::limits most = {}) {
  auto const coder = tri_letter::learn(strings{text}, 100'000, most);
  std::vector<std::int32_t> ids(coder.slots());
  std::vector<strings> words(coder.encode(text, ids));
  for (std::size_t w = 0; w < words.size(); ++w) {
    for (std::size_t l = 0; l < most.letters; ++l) {
      std::int32_t const id = ids[w * most.letters + l];
      if (id >= 0) words[w].push_back(id == 0 ? "?" : coder.trigrams()[static_cast<std::size_t>(id - 1)]);
    }
  }
  return words;
}

}  // namespace

TEST_CASE("words fall into trigrams") {
  CHECK(trigrams_of("Cat a B2") == std::vector<strings>{{"#ca", "cat", "at#"}, {"#a#"}, {"#b2", "b2#"}});
  CHECK(trigrams_of("  two   words ") ==
        std::vector<strings>{{"#tw", "two", "wo#"}, {"#wo", "wor", "ord", "rds", "ds#"}});
}

TEST_CASE("everything but letters, digits and spaces is dropped, and joins what it kept apart") {
  CHECK(trigrams_of("a-b\tc#d\n\xC3\xA9"
                    "e") == std::vector<strings>{{"#ab", "abc", "bcd", "cde", "de#"}});
  CHECK(trigrams_of("- a ! b") == std::vector<strings>{{"#a#"}, {"#b#"}});
}

TEST_CASE("a text without words has the trigram ###") {
  for (char const* text : {"", "   ", "!?", "#"}) CHECK(trigrams_of(text) == std::vector<strings>{{"###"}});
}

TEST_CASE("words and trigrams beyond the limits are cut off") {
  CHECK(trigrams_of("a b c", {2, 20}) == std::vector<strings>{{"#a#"}, {"#b#"}});
  CHECK(trigrams_of("abcdef gh", {2, 3}) == std::vector<strings>{{"#ab", "abc", "bcd"}, {"#gh", "gh#"}});
  std::string const long_word(50, 'x');
  CHECK(trigrams_of(long_word + " y")[0].size() == 20);
  std::string many;
  for (int i = 0; i < 30; ++i) many += "w ";
  CHECK(trigrams_of(many).size() == 12);
}

TEST_CASE("ids are lines from 1, 0 is unknown, -1 an empty slot") {
  auto const coder = tri_letter::parse("#ca\ncat\n", "test", {2, 4});
  CHECK(coder.size() == 3);
  CHECK(coder.id("#ca") == 1);
  CHECK(coder.id("cat") == 2);
  CHECK(coder.id("CAT") == 0);
  CHECK(coder.id("ca") == 0);
  std::vector<std::int32_t> ids(8, 99);
  CHECK(coder.encode("cat", ids) == 1);
  CHECK(ids == std::vector<std::int32_t>{1, 2, 0, -1, -1, -1, -1, -1});
  std::vector<std::int32_t> wrong(7);
  CHECK_THROWS_AS(coder.encode("cat", wrong), tx::value_error);
}

TEST_CASE("trigrams are learned by frequency, then by bytes, up to a size") {
  strings const texts{"ab ab", "b z a"};
  auto const coder = tri_letter::learn(texts, 100);
  CHECK(coder.trigrams() == strings{"#ab", "ab#", "#a#", "#b#", "#z#"});
  CHECK(tri_letter::learn(texts, 3).trigrams() == strings{"#ab", "ab#", "#a#"});
  CHECK_THROWS_AS(tri_letter::learn(texts, 0), tx::value_error);
  CHECK_THROWS_AS(tri_letter::learn({}, 10), tx::value_error);
  CHECK_THROWS_AS(tri_letter::learn(texts, 5, {0, 1}), tx::value_error);
}

TEST_CASE("a vocabulary file comes back as it was saved") {
  temp_folder folder;
  auto const coder = tri_letter::learn(strings{"the quick brown fox jumps over the lazy dog 0123456789"}, 1000);
  coder.save(folder / "v");
  auto const back = tri_letter::load(folder / "v");
  CHECK(back.trigrams() == coder.trigrams());
  CHECK(back.shape().words == 12);
  back.save(folder / "w");
  CHECK(tx::io::read_text(folder / "v") == tx::io::read_text(folder / "w"));
}

TEST_CASE("a trigram file may have CR LF, a mark at its start, and lines no text holds") {
  auto const coder = tri_letter::parse("\xEF\xBB\xBF#ca\r\n\r\n[x]\r\n\xC3\xA9tu\r\ncat", "test");
  CHECK(coder.size() == 6);
  CHECK(coder.id("#ca") == 1);
  CHECK(coder.id("cat") == 5);
}

TEST_CASE("broken trigram files are refused with their line") {
  CHECK_THROWS_WITH(tri_letter::parse("", "f"), Contains("f: the vocabulary is empty"));
  CHECK_THROWS_WITH(tri_letter::parse("abc\nabc\n", "f"), Contains("f:2: 'abc' is given twice"));
  CHECK_THROWS_WITH(tri_letter::parse("abc\na b\n", "f"), Contains("f:2: ") && Contains("no trigram"));
  CHECK_THROWS_WITH(tri_letter::parse("abc\t3\n", "f"), Contains("f:1: "));
  CHECK_THROWS_WITH(tri_letter::parse("abc\n\xFF\n", "f"), Contains("f:2: "));
  CHECK_THROWS_WITH(tri_letter::parse("abc\r\r\n", "f"), Contains("f:1: ") && Contains("no trigram"));
  CHECK_THROWS_WITH(tri_letter::parse("\xEF\xBB\xBF\xEF\xBB\xBF"
                                      "abc\n",
                                      "f"),
                    Contains("f:1: ") && Contains("no trigram"));
  CHECK_THROWS_WITH(tri_letter::parse(std::string(17, 'a'), "f"), Contains("no trigram"));
  CHECK_THROWS_AS(tri_letter::load("/no/such/file"), tx::io_error);
}
