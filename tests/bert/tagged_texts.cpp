// Words with labels: how files are read, which token has a word's label, and entities as seqeval counts them.
#include "../../examples/bert/entity_scores.hpp"
#include "../../examples/bert/tagged_texts.hpp"

#include <catch2/catch.hpp>

using bert::entities_of, bert::entity, bert::parse_tagged_texts;
using strings = std::vector<std::string>;

TEST_CASE("texts of words and labels", "[tag]") {
  auto const texts = parse_tagged_texts("\nthe\tO\ntexts\tB-X\n\n\nfew\tI-X\r\n", "file");
  REQUIRE(texts.size() == 2);
  CHECK(texts[0].words == strings{"the", "texts"});
  CHECK(texts[0].tags == strings{"O", "B-X"});
  CHECK(texts[0].line == 2);
  CHECK(texts[1].words == strings{"few"});
  CHECK(texts[1].line == 6);
  CHECK(bert::tag_names(texts) == strings{"B-X", "I-X", "O"});
  CHECK(parse_tagged_texts("the\nfew\n", "file", tx::text::labels::none)[0].words == strings{"the", "few"});
}

TEST_CASE("lines that are no words with labels are refused by their number", "[tag]") {
  auto const refused = [](std::string const& text, std::string const& message) { CHECK_THROWS_WITH(parse_tagged_texts(text, "file"), message); };
  refused("the\tO\nfew\n", "file:2: 1 columns where a word, a tab and a label belong");
  refused("the\tO\tO\n", "file:1: 3 columns where a word, a tab and a label belong");
  refused("\tO\n", "file:1: the word is empty");
  refused("the\t \n", "file:1: the label is empty");
  refused("th\xff\tO\n", "file:1: not UTF-8");
  refused("\n\n", "file: no words, the file is empty");
  CHECK_THROWS_WITH(parse_tagged_texts("the\tO\n", "file", tx::text::labels::none), "file:1: 2 columns where a word belongs");
}

TEST_CASE("the first token of a word has its label, the others none", "[tag]") {
  auto const words = tx::text::tokenizer::load(TX_TEST_DIR "/../parity/data/folder");
  auto const texts = parse_tagged_texts("the\tO\nthere,\tB-X\nfew\tO\n\nfew\tB-X\n", "file");
  strings const names{"B-X", "O"};
  auto const data = bert::encode_words(texts, "file", words, names, 30);
  REQUIRE(data.texts.size() == 2);
  CHECK(data.texts[0].ids == words.encode("the there, few").ids);
  std::size_t const tokens = data.texts[0].ids.size();
  REQUIRE(tokens > 6);  // [CLS] the the ##re , few [SEP]
  CHECK(data.first[0] == std::vector<int>{1, 2, static_cast<int>(tokens) - 2});
  std::vector<std::int32_t> labels(tokens, bert::no_label);
  labels[1] = 1, labels[2] = 0, labels[tokens - 2] = 1;
  CHECK(data.labels[0] == labels);
  bert::check_whole(data, texts, "file", 30);

  auto const cut = bert::encode_words(texts, "file", words, names, 5);
  CHECK(cut.texts[0].ids.size() == 5);
  CHECK(cut.first[0].back() == -1);
  CHECK_THROWS_WITH(bert::check_whole(cut, texts, "file", 5), Catch::StartsWith("file:3: the word has no token among the text's first 5. FIX:"));
  strings const fewer{"O"};
  CHECK_THROWS_WITH(bert::encode_words(texts, "file", words, fewer, 30), "file:2: the label 'B-X' is none of the model's");
}

TEST_CASE("entities are seqeval's", "[tag]") {
  CHECK(entities_of(strings{"B-X", "I-X", "O", "B-Y"}) == std::vector<entity>{{"X", 0, 2}, {"Y", 3, 4}});
  CHECK(entities_of(strings{"B-X", "B-X", "I-Y"}) == std::vector<entity>{{"X", 0, 1}, {"X", 1, 2}, {"Y", 2, 3}});
  CHECK(entities_of(strings{"O", "I-X", "I-X", "O", "I-X"}) == std::vector<entity>{{"X", 1, 3}, {"X", 4, 5}});
  CHECK(entities_of(strings{"O", "O"}).empty());
  CHECK(bert::marks_entities(strings{"O", "B-X", "I-X"}));
  CHECK_FALSE(bert::marks_entities(strings{"O", "NOUN"}));
  CHECK_FALSE(bert::marks_entities(strings{"B-"}));
}

TEST_CASE("an entity is right where its kind and both ends are", "[tag]") {
  // seqeval's own example: y_true and y_pred of its README, F1 0.50, accuracy 0.80.
  bert::entity_scores s;
  s.add(strings{"O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"}, strings{"O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"});
  s.add(strings{"B-PER", "I-PER", "O"}, strings{"B-PER", "I-PER", "O"});
  CHECK(s.precision() == Approx(0.5));
  CHECK(s.recall() == Approx(0.5));
  CHECK(s.f1() == Approx(0.5));
  CHECK(s.accuracy() == Approx(0.8));
  CHECK(s.words() == 10);
  CHECK(s.entities() == 2);
  CHECK_THROWS_AS(s.add(strings{"O"}, strings{}), tx::value_error);
  CHECK(bert::entity_scores().f1() == 0);
}
