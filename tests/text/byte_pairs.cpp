// Ids of byte pairs against those of Hugging Face's tokenizers, and what is refused.
#include "byte_pairs_reference.hpp"
#include "drawn_texts.hpp"

#include <tx/text/byte_pairs.hpp>

#include <catch2/catch.hpp>

namespace {

namespace reference = byte_pairs_reference;

using tx::text::byte_pairs;
using strings = std::vector<std::string>;

byte_pairs const& coder() {
  static byte_pairs const small = byte_pairs::parse(reference::vocabulary, reference::merges, "vocab.json", "merges.txt");
  return small;
}

strings pieces_of(std::string_view text) {
  strings out;
  tx::text::for_each_piece(text, [&](std::string_view piece) { out.emplace_back(piece); });
  return out;
}

std::string mixed(text_draws& d) {
  std::string out;
  for (std::uint32_t left = 1 + d.under(14); left > 0; --left) {
    if (d.under(5) == 0) out += d.text();
    else out += reference::parts[d.under(std::size(reference::parts))];
  }
  return out;
}

TEST_CASE("drawn texts have the reference's ids, and come back", "[byte_pairs]") {
  text_draws d{2};
  for (std::uint32_t const wanted : reference::drawn) {
    byte_sum s;
    for (int k = 0; k < reference::texts; ++k) {
      std::string const text = mixed(d);
      auto const ids = coder().encode(text);
      for (std::size_t i = 0; i < ids.size(); ++i) s.add((i > 0 ? " " : "") + std::to_string(ids[i]));
      s.add("\n");
      CHECK(coder().decode(ids) == text);
    }
    CHECK(s.value == wanted);
  }
}

TEST_CASE("texts are cut as GPT-2 cuts them", "[byte_pairs]") {
  CHECK(pieces_of("").empty());
  CHECK(pieces_of("Hello  world's 12ab") == strings{"Hello", " ", " world", "'s", " 12", "ab"});
  CHECK(pieces_of("don't 'S we'll'") == strings{"don", "'t", " '", "S", " we", "'ll", "'"});
  CHECK(pieces_of("a\n\n b  ") == strings{"a", "\n\n", " b", "  "});
  CHECK(pieces_of("   ") == strings{"   "});
  CHECK(pieces_of(" ") == strings{" "});
  CHECK(pieces_of("\t x\u00A0y") == strings{"\t", " x", "\u00A0", "y"});
  CHECK(pieces_of("x\xFF\xFE y") == strings{"x", "\xFF\xFE", " y"});
}

TEST_CASE("long pieces are joined as short ones are", "[byte_pairs]") {
  // Of one letter, whose joining is known: "ee" is no token here, "the" and "tokens" are.
  std::string const word = "tokensthe";
  std::vector<std::int32_t> const once = coder().encode(word);
  for (int times : {1, 5, 7, 8, 60, 3000}) {
    std::string text;
    for (int k = 0; k < times; ++k) text += word;
    auto const ids = coder().encode(text);
    CHECK(coder().decode(ids) == text);
    if (times <= 7) continue;  // at most 64 bytes
    // The middle repeats: ids of 8 words and of more are the same pattern.
    std::string eight;
    for (int k = 0; k < 7; ++k) eight += word;
    auto const pattern = coder().encode(eight);
    CHECK(ids.size() == pattern.size() / 7 * static_cast<std::size_t>(times));
    CHECK(std::equal(pattern.begin(), pattern.end(), ids.begin()));
  }
}

TEST_CASE("every byte string comes back", "[byte_pairs]") {
  text_draws d{9};
  for (int k = 0; k < 200; ++k) {
    std::string bytes;
    for (std::uint32_t n = d.under(300); n > 0; --n) bytes.push_back(static_cast<char>(d.under(256)));
    CHECK(coder().decode(coder().encode(bytes)) == bytes);
  }
}

TEST_CASE("tokens by name and by id", "[byte_pairs]") {
  CHECK(coder().id("<s>") == 0);
  CHECK(coder().bytes(0) == "<s>");
  REQUIRE(coder().id("\u0120the"));
  CHECK(coder().bytes(*coder().id("\u0120the")) == " the");
  CHECK(coder().id(" the") == std::nullopt);
  CHECK_THROWS_AS(coder().bytes(-1), tx::value_error);
  CHECK_THROWS_AS(coder().bytes(static_cast<std::int32_t>(coder().size())), tx::value_error);
}

TEST_CASE("what no tokenizer is", "[byte_pairs]") {
  auto const refused = [](std::string const& vocabulary, std::string const& merges, std::string const& reason) {
    CHECK_THROWS_WITH(byte_pairs::parse(vocabulary, merges, "v", "m"), Catch::Contains(reason));
  };
  std::string const all = reference::vocabulary;
  refused("", "", "v is no JSON");
  refused("[]", "", "no object of ids by token");
  refused("{}", "", "no object of ids by token");
  refused(R"({"a": 1})", "", "the id of 'a' is 1, not one of 0 to 0");
  refused(R"({"a": "0"})", "", "the id of 'a' is '0'");
  refused(R"({"a": -1})", "", "the id of 'a' is -1");
  refused(R"({"a": 0, "b": 0})", "", "the id 0 is given twice");
  refused(R"({"a": 0})", "", "has no token for the byte 0");
  refused(all, "a\n", "m:1: not two tokens with a space between them");
  refused(all, "#version: 0.2\na b c\n", "m:2: not two tokens");
  refused(all, "qq a\n", "merge number 1 is of 'qq', which is no token");
  refused(all, "z q\n", "merge number 1 is of 'zq', which is no token");
}

TEST_CASE("of a merge that is given twice the last counts", "[byte_pairs]") {
  nlohmann::json vocabulary = nlohmann::json::parse(byte_pairs_reference::vocabulary);
  for (char const* const name : {"qz", "zj"})
    if (!vocabulary.contains(name)) vocabulary[name] = vocabulary.size();
  using merge = tx::text::byte_pairs::merge;
  std::vector<merge> const once{{"q", "z"}, {"z", "j"}}, twice{{"q", "z"}, {"z", "j"}, {"q", "z"}};
  auto const of = [&](std::vector<merge> const& merges) { return tx::text::byte_pairs(vocabulary, merges, "file").encode("qzj").front(); };
  CHECK(of(once) == vocabulary["qz"]);
  CHECK(of(twice) == vocabulary["q"]);
}

}  // namespace
