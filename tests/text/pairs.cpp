#include <tx/text/pairs.hpp>

#include <catch2/catch.hpp>

#include "../io/temp_folder.hpp"

using Catch::Matchers::Contains;
using tx::text::parse_pairs;

namespace {

void refused(std::string const& text, std::string const& reason) {
  INFO(text);
  CHECK_THROWS_AS(parse_pairs(text, "f.tsv"), tx::format_error);
  CHECK_THROWS_WITH(parse_pairs(text, "f.tsv"), Contains(reason));
}

}  // namespace

TEST_CASE("pairs with and without labels") {
  auto const pairs = parse_pairs("cats\tabout cats\ndogs\tabout cats\t0\nq u\td\t0.25\n");
  REQUIRE(pairs.size() == 3);
  CHECK(pairs[0].query == "cats");
  CHECK(pairs[0].document == "about cats");
  CHECK(pairs[0].label == 1);
  CHECK_FALSE(pairs[0].labelled);
  CHECK(pairs[1].label == 0);
  CHECK(pairs[1].labelled);
  CHECK(pairs[2].query == "q u");
  CHECK(pairs[2].label == 0.25f);
}

TEST_CASE("line ends, a mark at the start, a missing last end, an empty document") {
  auto const pairs = parse_pairs(
      "\xEF\xBB\xBF"
      "a\tb\r\nc\t\r\n\xC3\xA9\td\t1\r\ne\tf");
  REQUIRE(pairs.size() == 4);
  CHECK(pairs[0].query == "a");
  CHECK(pairs[0].document == "b");
  CHECK(pairs[1].document.empty());
  CHECK(pairs[2].query == "\xC3\xA9");
  CHECK(pairs[2].label == 1);
  CHECK(pairs[3].document == "f");
}

TEST_CASE("labels are numbers from 0 to 1") {
  for (char const* good : {"0", "1", "0.5", "1e-3", "1.0", "-0", ".5"}) {
    CHECK_NOTHROW(parse_pairs(std::string("a\tb\t") + good));
  }
  for (char const* bad :
       {"", " ", "x", "1.1", "-0.1", "nan", "inf", "0.5 ", " 0.5", "+1", "0,5", "0x1", "1e99", "0.5x"}) {
    refused(std::string("ok\tok\na\tb\t") + bad, std::string("f.tsv:2: the label '") + bad + "' is no number");
  }
}

TEST_CASE("malformed lines are refused with their number") {
  refused("a\tb\nc\n", "f.tsv:2: 1 column where");
  refused("a\tb\n\nc\td\n", "f.tsv:2: 1 column");
  refused("a\tb\n\n", "f.tsv:2: 1 column");
  refused("a\tb\t1\tx\n", "f.tsv:1: 4 columns");
  refused("\tb\n", "f.tsv:1: the query is empty");
  refused("  \tb\n", "f.tsv:1: the query is empty");
  refused("a\tb\r\na\xFF\tb\r\n", "f.tsv:2: not UTF-8");
  refused("a\t\xED\xA0\x80", "f.tsv:1: not UTF-8");
}

TEST_CASE("a file without pairs is refused") {
  refused("", "f.tsv: no pairs");
  refused("\xEF\xBB\xBF", "f.tsv: no pairs");
}

TEST_CASE("pair files are read from a path") {
  temp_folder folder;
  tx::io::write_file_atomic(folder / "p.tsv", "a\tb\nc\n");
  CHECK_THROWS_WITH(tx::text::read_pairs(folder / "p.tsv"), Contains(folder.path.string()) && Contains("p.tsv:2: "));
  tx::io::write_file_atomic(folder / "p.tsv", "a\tb\n");
  CHECK(tx::text::read_pairs(folder / "p.tsv").size() == 1);
  CHECK_THROWS_AS(tx::text::read_pairs(folder / "none"), tx::io_error);
  CHECK_THROWS_AS(tx::text::read_pairs(folder.path), tx::io_error);
}
