// Files of SentencePiece: ids and ranges against those of its own package, and what is refused.
#include "../io/temp_folder.hpp"
#include "drawn_texts.hpp"
#include "sentencepiece_reference.hpp"

#include <tx/io/protobuf.hpp>
#include <tx/text/tokenizer.hpp>

#include <catch2/catch.hpp>

#include <limits>

namespace {

namespace reference = sentencepiece_reference;
using tx::io::protobuf_message;
using tx::text::sentencepiece;
using ids = std::vector<std::int32_t>;

std::string file_of(std::string const& name) { return std::string(TX_TEST_DIR) + "/tokenizers/" + name + ".model"; }

std::string mixed(text_draws& d) {
  std::string out;
  for (std::uint32_t left = d.under(12); left > 0; --left) {
    std::uint32_t const kind = d.under(20);
    if (kind == 0) out += reference::bytes[d.under(std::size(reference::bytes))];
    else if (kind < 4) out += d.text();
    else out += reference::parts[d.under(std::size(reference::parts))];
  }
  return out;
}

TEST_CASE("drawn texts have the ids and ranges of sentencepiece itself", "[sentencepiece]") {
  for (auto const& r : reference::all) {
    CAPTURE(r.name);
    sentencepiece const coder = sentencepiece::load(file_of(r.name));
    text_draws d{4};
    for (std::uint32_t const wanted : r.of_groups) {
      byte_sum s;
      for (int k = 0; k < reference::texts; ++k) {
        std::string const text = mixed(d);
        tx::text::token_list found;
        coder.append<true>(text, 0, found);
        CHECK(found.ids == coder.encode(text));
        std::string line;
        for (std::int32_t const id : found.ids) line += (line.empty() ? "" : " ") + std::to_string(id);
        if (tx::io::is_utf8(text))
          for (auto const& p : found.ranges) line += ' ' + std::to_string(p.begin) + '-' + std::to_string(p.end);
        s.add(line + '\n');
      }
      CHECK(s.value == wanted);
    }
  }
}

TEST_CASE("pieces by name and by id", "[sentencepiece]") {
  sentencepiece const coder = sentencepiece::load(file_of("bytes"));
  CHECK(coder.id("<unk>") == 0);
  CHECK(coder.id("<s>") == 1);
  REQUIRE(coder.id("<0x41>"));
  CHECK(coder.text(*coder.id("<word>")) == "<word>");
  CHECK(coder.id("no such piece") == std::nullopt);
  CHECK_THROWS_AS(coder.text(-1), tx::value_error);
  CHECK_THROWS_AS(coder.text(static_cast<std::int32_t>(coder.size())), tx::value_error);
  CHECK(coder.encode("").empty());
  CHECK(coder.encode("  ") == sentencepiece::load(file_of("bytes")).encode("  "));
}

TEST_CASE("a folder's tokenizer may be a file of SentencePiece", "[sentencepiece]") {
  sentencepiece const own = sentencepiece::load(file_of("plain"));
  for (char const* const name : {"spiece.model", "spm.model", "sentencepiece.bpe.model"}) {
    temp_folder folder;
    tx::io::write_file_atomic(folder / name, tx::io::read_text(file_of("plain")));
    auto const coder = tx::text::tokenizer::load(folder.path);
    CHECK(coder.size() == own.size());
    CHECK(coder.id("</s>") == own.id("</s>"));
    auto const e = coder.encode("Hello, </s> the tokens", {.ranges = true});
    CHECK(e.ids == own.encode("Hello, </s> the tokens"));
    REQUIRE(e.ranges.size() == e.ids.size());
    CHECK(e.ranges.back().end == 22);
    CHECK(coder.encode("the", "tokens").ids.size() == own.encode("the").size() + own.encode("tokens").size());
  }
}

struct piece {
  std::string text;
  float score;
  int type;
};

std::string model_of(std::vector<piece> const& pieces, protobuf_message const& trainer = {}, protobuf_message const& normalizer = {}) {
  protobuf_message out;
  for (auto const& p : pieces) {
    protobuf_message m;
    m.text(1, p.text);
    m.number(2, p.score);
    m.integer(3, p.type);
    out.message(1, m);
  }
  out.message(2, trainer);
  out.message(3, normalizer);
  return out.bytes();
}

TEST_CASE("the last of two settings counts, and the reader goes over what it does not know", "[sentencepiece]") {
  protobuf_message normalizer;
  normalizer.integer(3, 1);
  normalizer.integer(3, 0);
  normalizer.number(99, 1.5);
  normalizer.number(98, 1.5f);
  normalizer.text(97, "x");
  std::string const bytes = model_of({{"<unk>", 0, 2}, {"a", -1, 1}, {"ab", -1.5f, 1}}, {}, normalizer);
  sentencepiece const coder(tx::text::sentencepiece_model::parse(bytes, "file"), "file");
  CHECK(coder.encode("aab xyz a") == ids{1, 2, 0, 1});
}

TEST_CASE("what no model is", "[sentencepiece]") {
  auto const refused = [](std::string const& bytes, std::string const& reason) {
    CHECK_THROWS_WITH(sentencepiece(tx::text::sentencepiece_model::parse(bytes, "file"), "file"), Catch::StartsWith("file: ") && Catch::Contains(reason));
  };
  auto const number = [](int field, std::int64_t value) {
    protobuf_message m;
    m.integer(field, value);
    return m;
  };
  auto const text = [](int field, std::string const& value) {
    protobuf_message m;
    m.text(field, value);
    return m;
  };
  piece const unknown{"<unk>", 0, 2}, a{"a", -1, 1};
  refused("", "there are no pieces");
  refused("\x0A", "the message is cut off");
  refused("\x0A\x05" "a", "the message is cut off");
  refused("\x0B", "has a field of the wire type 3");
  refused(std::string("\0", 1), "has a field number that there is not");
  refused("\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", "an integer of more than ten bytes");
  refused(number(1, 3).bytes(), "has a field 1 that is neither text nor a message");
  refused(text(1, text(2, "x").bytes()).bytes(), "has a field 2 that is no number of 32 bits");
  refused(text(2, text(3, "x").bytes()).bytes(), "has a field 3 that is no integer");
  refused(model_of({unknown, a}, number(3, 2)), "a model of the type BPE is not known; known is UNIGRAM");
  refused(model_of({unknown, a}, number(3, 3)), "a model of the type WORD is not known");
  refused(model_of({unknown, a}, number(3, 9)), "a model of the type 9 is not known");
  refused(model_of({unknown, {"", 0, 1}}), "the piece 1 is empty");
  refused(model_of({unknown, {std::string(8000, 'a'), 0, 1}}), "the piece 1 is of 8000 bytes");
  refused(model_of({unknown, {"\xFF", 0, 1}}), "the piece 1 is not UTF-8");
  refused(model_of({unknown, {std::string("a\0", 2), 0, 1}}), "the piece 1 has a zero in it");
  refused(model_of({unknown, {"a", std::numeric_limits<float>::quiet_NaN(), 1}}), "the piece 1 has a score that is no number");
  refused(model_of({unknown, {"a", 0, 7}}), "the piece 1 is of the type 7, which there is not");
  refused(model_of({unknown, a, a}), "the piece 'a' is given twice");
  refused(model_of({unknown, {"<unk2>", 0, 2}, a}), "there are two unknown pieces");
  refused(model_of({a}), "there is no unknown piece");
  refused(model_of({unknown}), "there is no piece that texts are of");
  refused(model_of({unknown, a, {"<0x41>", 0, 6}}), "the piece '<0x41>' is of a byte, but byte_fallback is not set");
  refused(model_of({unknown, a, {"<0x4g>", 0, 6}}, number(35, 1)), "the piece '<0x4g>' is of no byte");
  refused(model_of({unknown, a, {"<0x00>", 0, 6}}, number(35, 1)), "the byte 1 has no piece");
  auto const charsmap = [&](std::string const& bytes) { return model_of({unknown, a}, {}, text(2, bytes)); };
  refused(charsmap("abc"), "the precompiled_charsmap lacks its size");
  refused(charsmap(std::string("\x00\x04\x00\x00", 4)), "the precompiled_charsmap is cut off");
  refused(charsmap(std::string("\x04\x00\x00\x00" "abcd", 8)), "the precompiled_charsmap has an array that is not of blocks of 256 units");
  refused(charsmap(std::string("\x00\x04\x00\x00", 4) + std::string(1024, '\0') + '\xFF'), "has replacements that are not UTF-8");
  refused(charsmap(std::string("\x00\x04\x00\x00", 4) + std::string(1024, '\xFF')), "has an array without a root");
  refused(charsmap(std::string("\x00\x04\x00\x00", 4) + std::string(4, '\0') + std::string(1020, '\x7F')), "has a unit whose children lie beyond it");
  std::string units(1024, '\0');
  units[5] = 1;  // the second unit ends a string
  refused(charsmap(std::string("\x00\x04\x00\x00", 4) + units + '\0'), "has a string without a replacement");
}

// Units of which each but the first follows on the one before with an "a"; the last leads to the one of that number, or to none.
std::string map_of_one_string(std::uint32_t units, std::uint32_t back = 0) {
  std::string out;
  auto const put = [&](std::uint32_t word) {
    for (int i = 0; i < 4; ++i) out += static_cast<char>(word >> 8 * i);
  };
  put(units * 4);
  for (std::uint32_t at = 0; at < units; ++at) put((at ^ (at + 1 < units ? at + 1 : back) ^ 'a') << 10 | (at > 0 ? 'a' : 0u));
  return out + '\0';
}

TEST_CASE("strings of a map of characters end after few bytes", "[sentencepiece]") {
  auto const with = [](std::string const& map) {
    protobuf_message normalizer;
    normalizer.text(2, map);
    return sentencepiece(tx::text::sentencepiece_model::parse(model_of({{"<unk>", 0, 2}, {"a", -1, 1}}, {}, normalizer), "file"), "file");
  };
  CHECK(with(map_of_one_string(256)).encode("aa") == ids{0, 1, 1});  // a string of 255 bytes that nothing replaces
  CHECK_THROWS_WITH(with(map_of_one_string(512)), "file: the precompiled_charsmap has a string of more than 255 bytes, or of any number");
  CHECK_THROWS_WITH(with(map_of_one_string(256, 7)), Catch::Contains("has a string of more than 255 bytes, or of any number"));
}

}  // namespace
