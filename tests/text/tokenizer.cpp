// Tokenizers of models' folders: what they make of texts and of pairs, against Hugging Face's, and what is refused.
#include "../io/temp_folder.hpp"
#include "drawn_texts.hpp"
#include "tokenizer_reference.hpp"

#include <tx/text/tokenizer.hpp>

#include <catch2/catch.hpp>

namespace {

namespace reference = tokenizer_reference;
using tx::text::tokenizer;
using tx::text::truncation;
using ids = std::vector<std::int32_t>;

std::string file_of(std::string const& name) { return std::string(TX_TEST_DIR) + "/tokenizers/" + name + ".json"; }

std::string mixed(text_draws& d) {
  std::string out;
  for (std::uint32_t left = d.under(12); left > 0; --left) {
    if (d.under(6) == 0) out += d.text();
    else out += reference::parts[d.under(std::size(reference::parts))];
  }
  return out;
}

std::string line_of(tx::text::encoding const& e) {
  REQUIRE(e.ids.size() == e.types.size());
  std::string out;
  for (std::size_t i = 0; i < e.ids.size(); ++i) out += (i > 0 ? " " : "") + std::to_string(e.ids[i]) + ':' + std::to_string(e.types[i]);
  return out;
}

TEST_CASE("drawn texts and pairs have the reference's ids and types, cut as it cuts them", "[tokenizer]") {
  for (auto const& r : reference::all) {
    CAPTURE(r.name);
    tokenizer const coder = tokenizer::load(file_of(r.name));
    text_draws d{3};
    for (std::uint32_t const wanted : r.of_groups) {
      byte_sum s;
      for (int k = 0; k < reference::texts; ++k) {
        std::string const first = mixed(d), second = mixed(d);
        auto const [most, how] = reference::cuts[d.under(std::size(reference::cuts))];
        tx::text::encode_options const options{static_cast<std::size_t>(most), how};
        auto const add = [&](auto const&... texts) {
          try {
            s.add(line_of(coder.encode(texts..., options)) + '\n');
          } catch (tx::value_error const&) {
            s.add("too short\n");
          }
        };
        if (how == truncation::only_second) s.add("alone\n");
        else add(first);
        add(first, second);
      }
      CHECK(s.value == wanted);
    }
  }
}

TEST_CASE("how many tokens of two texts are kept", "[tokenizer]") {
  using tx::text::kept;
  using two = std::pair<std::size_t, std::size_t>;
  CHECK(kept(3, 4, 7, truncation::longest_first) == two{3, 4});
  CHECK(kept(3, 9, 8, truncation::longest_first) == two{3, 5});
  CHECK(kept(9, 3, 8, truncation::longest_first) == two{5, 3});
  CHECK(kept(9, 9, 7, truncation::longest_first) == two{3, 4});
  CHECK(kept(10, 9, 7, truncation::longest_first) == two{4, 3});
  CHECK(kept(9, 0, 7, truncation::longest_first) == two{7, 0});
  CHECK(kept(9, 5, 7, truncation::only_first) == two{2, 5});
  CHECK(kept(5, 9, 7, truncation::only_second) == two{5, 2});
  CHECK(kept(5, 9, 7, truncation::none) == two{5, 9});
  CHECK_THROWS_AS(kept(2, 9, 7, truncation::only_first), tx::value_error);
  for (std::size_t a = 0; a < 12; ++a)
    for (std::size_t b = 0; b < 12; ++b)
      for (std::size_t room = 0; room < 14; ++room) {
        auto const [x, y] = kept(a, b, room, truncation::longest_first);
        CHECK((x <= a && y <= b && x + y == std::min(a + b, room)));
      }
}

TEST_CASE("options of encoding", "[tokenizer]") {
  tokenizer const coder = tokenizer::load(file_of("uncased"));
  auto const plain = coder.encode("the tokens", {.special_tokens = false});
  auto const with = coder.encode("the tokens");
  REQUIRE(with.ids.size() == plain.ids.size() + 2);
  CHECK(ids(with.ids.begin() + 1, with.ids.end() - 1) == plain.ids);
  CHECK(plain.ids == coder.ids_of("the tokens"));
  CHECK(with.ids.front() == coder.id("[CLS]"));
  CHECK(with.ids.back() == coder.id("[SEP]"));
  CHECK(coder.encode("the tokens", {.most = 2}).ids == ids{*coder.id("[CLS]"), *coder.id("[SEP]")});
  CHECK_THROWS_WITH(coder.encode("the tokens", {.most = 1}), Catch::Contains("no room for the 2 tokens around a text"));
  CHECK(coder.encode("the tokens", {.most = 1, .how = truncation::none}).ids == with.ids);
  CHECK(coder.id("no such token") == std::nullopt);
}

TEST_CASE("added tokens may stand behind the vocabulary", "[tokenizer]") {
  nlohmann::json const json = tx::io::read_json(file_of("roberta"));
  tokenizer const coder = tokenizer::of(json, "file");
  REQUIRE(coder.size() > json["model"]["vocab"].size());
  CHECK(json["added_tokens"].back()["id"] == coder.size() - 1);
  CHECK(tokenizer::load(file_of("uncased")).size() == tx::io::read_json(file_of("uncased"))["model"]["vocab"].size());
  // <mask> takes what is blank before it, "wor" what is blank behind it; "word" is found where it stands alone.
  auto const named = [&](char const* name) { return *coder.id(name); };
  CHECK(coder.ids_of(" \u00a0<mask>") == ids{named("<mask>")});
  CHECK(coder.ids_of("wor \n<mask>") == ids{named("wor"), named("<mask>")});
  CHECK(coder.ids_of("word") == ids{named("word")});
}

TEST_CASE("folders without a tokenizer.json", "[tokenizer]") {
  temp_folder folder;
  auto const write = [&](char const* name, std::string const& text) { tx::io::write_file_atomic(folder / name, text); };
  CHECK_THROWS_WITH(tokenizer::load(folder.path), Catch::Contains("no tokenizer in"));
  SECTION("of BERT, uncased if nothing is said") {
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\nThe\n");
    CHECK(tokenizer::load(folder.path).encode("The [MASK]the", "THE").ids == ids{2, 5, 4, 5, 3, 5, 3});
    CHECK(tokenizer::load(folder.path).encode("The", "the").types == ids{0, 0, 0, 1, 1});
    write("tokenizer_config.json", R"({"do_lower_case": false})");
    CHECK(tokenizer::load(folder.path).encode("The").ids == ids{2, 6, 3});
    write("tokenizer_config.json", "[");
    CHECK_THROWS_AS(tokenizer::load(folder.path), tx::format_error);
  }
  SECTION("of byte pairs, the same as its tokenizer.json") {
    nlohmann::json const model = tx::io::read_json(file_of("gpt2"))["model"];
    std::string merges;
    for (auto const& m : model["merges"]) merges += m.is_string() ? m.get<std::string>() + '\n' : m[0].get<std::string>() + ' ' + m[1].get<std::string>() + '\n';
    write("vocab.json", model["vocab"].dump());
    write("merges.txt", merges);
    auto const coder = tokenizer::load(folder.path), whole = tokenizer::load(file_of("gpt2"));
    for (char const* text : {"Hello, the tokens", "12 texts' pairs", ""}) CHECK(coder.ids_of(text) == whole.ids_of(text));
    CHECK(coder.encode("the").ids.front() == coder.id("<s>"));
  }
}

TEST_CASE("parts of a tokenizer.json that are not known are refused by name", "[tokenizer]") {
  auto const refused = [](char const* of, std::string const& pointer, nlohmann::json const& value, std::string const& reason) {
    nlohmann::json json = tx::io::read_json(file_of(of));
    json[nlohmann::json::json_pointer(pointer)] = value;
    CAPTURE(pointer, value.dump());
    CHECK_THROWS_WITH(tokenizer::of(json, "file"), Catch::StartsWith("file: ") && Catch::Contains(reason));
  };
  refused("uncased", "/model/type", "Unigram", "a model 'Unigram' is not known");
  refused("uncased", "/model/unk_token", "<unk>", "unk_token is '<unk>'; known is '[UNK]'");
  refused("uncased", "/model/max_input_chars_per_word", 50, "max_input_chars_per_word is 50; known is 100");
  refused("uncased", "/model/vocab", {{"a", 0}}, "the vocabulary lacks [UNK]");
  refused("uncased", "/model/vocab", {{"a", 0}, {"b", 0}}, "the id 0 is given twice");
  refused("uncased", "/model/vocab", {{"a", 7}}, "the id of 'a' is 7");
  refused("uncased", "/model/vocab", 3, "the vocabulary is no object");
  refused("uncased", "/normalizer", {{"type", "NFC"}}, "a normalizer 'NFC' is not known beside WordPiece");
  refused("uncased", "/normalizer", nullptr, "a normalizer '' is not known beside WordPiece");
  refused("uncased", "/normalizer/lowercase", 1, "lowercase is 1, not true or false");
  refused("uncased", "/pre_tokenizer/type", "Whitespace", "a pre_tokenizer 'Whitespace' is not known beside WordPiece");
  refused("uncased", "/post_processor", {{"type", "Other"}}, "a post_processor 'Other' is not known");
  refused("uncased", "/post_processor/special_tokens", nlohmann::json::object(), "the special token '[CLS]' of the post_processor has no ids");
  refused("uncased", "/post_processor/single", {{{"Sequence", {{"id", "C"}}}}}, "a part of the post_processor is a 'Sequence' 'C'");
  refused("uncased", "/added_tokens/0/normalized", true, "the added token '[PAD]' is found in normalized text");
  refused("uncased", "/added_tokens/0/id", -1, "the id of '[PAD]' is -1");
  refused("uncased", "/added_tokens/0/content", "", "an added token is empty");
  refused("uncased", "/added_tokens", 3, "added_tokens are no list");
  refused("gpt2", "/normalizer", {{"type", "NFC"}}, "a normalizer 'NFC' is not known beside BPE");
  refused("gpt2", "/pre_tokenizer", {{"type", "Metaspace"}}, "a pre_tokenizer 'Metaspace' is not known beside BPE");
  refused("gpt2", "/pre_tokenizer/use_regex", false, "use_regex is false; known is true");
  refused("gpt2", "/model/end_of_word_suffix", "</w>", "end_of_word_suffix is '</w>'");
  refused("gpt2", "/model/dropout", 0.1, "dropout is 0.1");
  refused("gpt2", "/model/merges", 3, "the merges are no list");
  refused("gpt2", "/model/merges/0", 3, "merge number 1 is not of two tokens");
  refused("roberta", "/post_processor/cls", 3, "the post_processor lacks cls");
  refused("roberta", "/post_processor/cls/1", 1000, "the post_processor names the id 1000, which no token has");
  CHECK_THROWS_WITH(tokenizer::of(nlohmann::json::array(), "file"), Catch::Contains("is no JSON object"));
  CHECK_THROWS_WITH(tokenizer::of(nlohmann::json::object(), "file"), Catch::Contains("a model '' is not known"));
}

}  // namespace
