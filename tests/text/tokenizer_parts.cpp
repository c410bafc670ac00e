// Normalizers and decoders of a tokenizer.json against those of Hugging Face's tokenizers, and what is refused.
#include "drawn_texts.hpp"
#include "parts_reference.hpp"

#include <tx/text/tokenizer.hpp>

#include <catch2/catch.hpp>

namespace {

namespace reference = parts_reference;
namespace detail = tx::text::detail;
using tx::text::tokenizer;
using ids = std::vector<std::int32_t>;

nlohmann::json json_of(std::string const& name) { return tx::io::read_json(std::string(TX_TEST_DIR) + "/tokenizers/" + name + ".json"); }
tokenizer with(std::string const& file, nlohmann::json const& patch) {
  nlohmann::json json = json_of(file);
  json.update(patch);
  return tokenizer::of(json, "file");
}
std::vector<detail::text_change> changes_of(nlohmann::json const& normalizer) {
  nlohmann::json const file = {{"normalizer", normalizer}};
  std::string const source = "file";
  return detail::text_changes_of(detail::json_parts(file, source));
}

std::string mixed(text_draws& d) {
  std::string out;
  for (std::uint32_t left = d.under(12); left > 0; --left) {
    std::uint32_t const kind = d.under(6);
    out += kind == 0 ? d.text() : kind == 1 ? d.anywhere() : reference::parts[d.under(std::size(reference::parts))];
  }
  return out;
}

TEST_CASE("every code point becomes what the reference's normalizers make of it", "[tokenizer_parts]") {
  for (auto const& r : reference::points) {
    CAPTURE(r.normalizer);
    auto const changes = changes_of(nlohmann::json::parse(r.normalizer));
    char32_t c = 0;
    for (std::uint32_t const wanted : r.of_blocks) {
      byte_sum s;
      for (int k = 0; k < reference::block; ++k, ++c) {
        if (c >= 0xD800 && c < 0xE000) continue;
        std::string text = "a";
        tx::io::append_utf8(text, c);
        text += 'b';
        if (std::string const now = detail::changed_by(changes, text); now != text) s.add(std::to_string(static_cast<std::uint32_t>(c)) + ' ' + now + '\n');
      }
      CAPTURE(static_cast<std::uint32_t>(c));
      CHECK(s.value == wanted);
    }
  }
}

TEST_CASE("drawn texts have the reference's ids and ranges with other normalizers, and drawn ids its texts", "[tokenizer_parts]") {
  for (auto const& r : reference::cases) {
    CAPTURE(r.file, r.patch);
    tokenizer const coder = with(r.file, nlohmann::json::parse(r.patch));
    text_draws d{7};
    for (std::uint32_t const wanted : r.of_groups) {
      byte_sum s;
      for (int k = 0; k < reference::texts; ++k) {
        std::string const text = mixed(d);
        auto e = coder.encode(text, {.ranges = true});
        CHECK(coder.encode(text).ids == e.ids);
        std::string line;
        for (std::size_t i = 0; i < e.ids.size(); ++i)
          line += (i > 0 ? " " : "") + std::to_string(e.ids[i]) + ':' + std::to_string(e.ranges[i].begin) + '-' + std::to_string(e.ranges[i].end);
        s.add(line + '\n');
        for (std::uint32_t left = d.under(8); left > 0; --left) e.ids.push_back(static_cast<std::int32_t>(d.under(static_cast<std::uint32_t>(coder.size()) + 3)));
        s.add(coder.decode(e.ids) + '\n');
        s.add(coder.decode(e.ids, {.special_tokens = true}) + '\n');
      }
      CHECK(s.value == wanted);
    }
  }
}

TEST_CASE("letters and their marks, apart and composed", "[tokenizer_parts]") {
  auto const is = [](char const* form, std::string const& text, std::string const& wanted) { CHECK(detail::changed_by(changes_of({{"type", form}}), text) == wanted); };
  is("NFC", "e\u0302\u0323", "\u1ec7");
  is("NFD", "\u1ec7", "e\u0323\u0302");
  is("NFC", "\u1100\u1161\u11a8\u11a8", "\uac01\u11a8");
  is("NFC", "\u0958", "\u0915\u093c");  // never composed
  is("NFC", "a\u0345\u0301", "\u00e1\u0345");
  is("NFC", "\u0301\u0301a", "\u0301\u0301a");
  is("NFKC", "\ufb01\uff21", "fiA");
  is("NFC", "\ufb01", "\ufb01");
  is("NFC", "", "");
  is("StripAccents", "e\u0301\u00e9", "e\u00e9");
  is("Nmt", "a\u0001\tb\ufeff", "a b ");
}

TEST_CASE("what is changed tells where it comes from", "[tokenizer_parts]") {
  auto const changes = changes_of({{"type", "Sequence"}, {"normalizers", {{{"type", "NFKD"}}, {{"type", "StripAccents"}}}}});
  detail::change_rooms rooms;
  auto const now = detail::apply_all(changes, detail::written_text("x\ufb01\u00e9", 10, true, rooms.written), rooms).text;
  REQUIRE(now.bytes == "xfie");
  using tx::text::text_range;
  CHECK(now.origins[0] == text_range{10, 11});
  CHECK(now.origins[1] == text_range{11, 14});
  CHECK(now.origins[2] == text_range{11, 14});
  CHECK(now.origins[3] == text_range{14, 16});
}

TEST_CASE("ids become texts again", "[tokenizer_parts]") {
  tokenizer const words = with("uncased", {{"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}}});
  auto const e = words.encode("The tokens, the texts.");
  CHECK(words.decode(e.ids) == "the tokens, the texts.");
  CHECK(words.decode(e.ids, {.special_tokens = true}) == "[CLS] the tokens, the texts. [SEP]");
  CHECK(words.decode(ids{}) == "");
  CHECK(words.decode(ids{100000}) == "");  // of no token
  CHECK(words.name(e.ids[0]) == "[CLS]");
  CHECK(words.name(-1) == std::nullopt);
  CHECK(words.name(static_cast<std::int32_t>(words.size())) == std::nullopt);
  CHECK_THROWS_WITH(words.decode(ids{-100}), Catch::Contains("the id -100 is below 0") && Catch::Contains("FIX: "));
  tokenizer const bytes = with("gpt2", {{"decoder", {{"type", "ByteLevel"}}}});
  for (char const* const text : {"Hello  the texts' 12", "\u4e2d \u00e9", ""}) CHECK(bytes.decode(bytes.ids_of(text)) == text);
  auto cut = bytes.ids_of("\u4e2d");
  REQUIRE(cut.size() == 3);
  cut.pop_back();
  CHECK(bytes.decode(cut) == "\uFFFD");
  CHECK(bytes.name(*bytes.id("\u0120the")) == "\u0120the");
}

TEST_CASE("every name of a vocabulary is found by its id", "[tokenizer_parts]") {
  for (char const* const file : {"uncased", "gpt2", "roberta", "xlm_r", "t5"}) {
    tokenizer const coder = with(file, nlohmann::json::object());
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(coder.size()); ++id) {
      CAPTURE(file, id);
      REQUIRE(coder.name(id));
      CHECK(coder.id(*coder.name(id)) == id);
    }
  }
  // One that is found in changed texts is called what it is there.
  tokenizer const changed = with("fallback", nlohmann::json::object());
  CHECK(changed.name(*changed.id("Word")) == " word");  // the map has made a space of its mark
}

TEST_CASE("decoders that are not known are refused where they are used", "[tokenizer_parts]") {
  auto const refused = [](nlohmann::json const& decoder, std::string const& reason) {
    tokenizer const coder = with("uncased", {{"decoder", decoder}});
    CAPTURE(decoder.dump());
    CHECK_FALSE(coder.ids_of("the").empty());
    CHECK_THROWS_WITH(coder.decode(coder.ids_of("the")), Catch::StartsWith("file: ") && Catch::Contains(reason));
  };
  refused({{"type", "CTC"}}, "a decoder 'CTC' is not known. FIX: one of WordPiece, ByteLevel");
  refused({{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}, {{"type", "CTC"}}}}}, "a decoder 'CTC' is not known");
  refused({{"type", "Sequence"}}, "the decoder lacks its decoders");
  refused({{"type", "Strip"}, {"content", "ab"}, {"start", 1}, {"stop", 0}}, "the decoder's content 'ab' is not one character");
  refused({{"type", "Strip"}, {"content", "a"}, {"start", -1}, {"stop", 0}}, "the decoder's start is -1, no count");
  refused({{"type", "BPEDecoder"}, {"suffix", ""}}, "the decoder's suffix is empty");
  refused({{"type", "Metaspace"}, {"replacement", "ab"}}, "the replacement 'ab' is not one character");
  refused({{"type", "Replace"}, {"pattern", {{"Regex", "a|b"}}}, {"content", ""}}, "the pattern of Replace is 'a|b'");
  refused({{"type", "WordPiece"}, {"prefix", 3}}, "prefix is 3, no text");
}

TEST_CASE("folders without a tokenizer.json have the decoder of their kind", "[tokenizer_parts]") {
  auto const words = tokenizer::of_bert(tx::text::wordpiece::parse("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ntext\n##s\n.\n", "vocab.txt"));
  CHECK(words.decode(words.encode("The texts.").ids) == "the texts.");
}

}  // namespace
