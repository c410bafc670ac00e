#include <tx/text/labelled_texts.hpp>

#include <catch2/catch.hpp>

using namespace tx::text;

TEST_CASE("lines of labels and texts", "[labelled_texts]") {
  auto const two = parse_labelled_texts("yes\ta text\r\nno\tanother {one}\n", "f");
  REQUIRE(two.size() == 2);
  CHECK((two[0].label == "yes" && two[0].text == "a text" && !two[0].pair));
  CHECK(two[1].text == "another {one}");
  auto const pairs = parse_labelled_texts("1.5\tone\ttwo", "f");
  CHECK((pairs[0].label == "1.5" && pairs[0].text == "one" && pairs[0].pair == "two"));
  auto const plain = parse_labelled_texts("one\nthree", "f", labels::none);
  CHECK((plain[0].label == "" && plain[0].text == "one" && plain[1].text == "three"));
  CHECK(parse_labelled_texts("one\ttwo", "f", labels::none)[0].pair == "two");
}

TEST_CASE("lines of JSON", "[labelled_texts]") {
  auto const all = parse_labelled_texts("{\"text\": \"a\\tb\", \"label\": 2}\n{\"label\": \"x\", \"text\": \"c\"}\n{\"label\": -0.5, \"text\": \"d\"}\n{\"label\": true, \"text\": \"e\"}", "f");
  CHECK((all[0].label == "2" && all[0].text == "a\tb"));
  CHECK((all[1].label == "x" && all[2].label == "-0.5" && all[3].label == "true"));
  CHECK(parse_labelled_texts("{\"text\": \"a\"}", "f", labels::none)[0].label == "");
  CHECK(parse_labelled_texts("{\"text\": \"a\", \"label\": 1}", "f", labels::none)[0].label == "1");
}

TEST_CASE("lines that are refused, with their number", "[labelled_texts]") {
  auto const refused = [](std::string const& text, std::string const& reason, labels wanted = labels::required) {
    CHECK_THROWS_AS(parse_labelled_texts(text, "f", wanted), tx::format_error);
    CHECK_THROWS_WITH(parse_labelled_texts(text, "f", wanted), Catch::Contains(reason));
  };
  refused("", "f: no texts, the file is empty");
  refused("a\tb\n\n", "f:2: the line is empty");
  refused("a\n", "f:1: no tab where a label, a text and perhaps a second text belong");
  refused("a\tb\tc\td", "f:1: 4 columns");
  refused("a\tb\tc", "f:1: 3 columns where a text and perhaps a second text belong", labels::none);
  refused("a\tb\na\t", "f:2: the text is empty");
  refused(" \tb", "f:1: the label is empty");
  refused("a\tb\t", "f:1: the text is empty");
  refused("a\tb\nc\td\te", "f:2: a second text, which the first line lacks");
  refused("a\tb\te\nc\td", "f:2: no second text, which the first line has");
  refused("a\t\xff", "f:1: not UTF-8");
  refused("{\"text\": \"a\"}", "f:1: the label is missing, or neither a string nor a number");
  refused("{\"text\": 3, \"label\": 1}", "f:1: text is 3, not a string");
  refused("{\"label\": 1}", "f:1: text is missing");
  refused("{\"text\": \"a\", \"label\": [1]}", "f:1: the label is missing, or neither");
  refused("{\"text\": \"a\", \"label\": 1, \"lable\": 2}", "f:1: the key 'lable' is not known");
  refused("{\"text\": ", "f:1 is no JSON");
}
