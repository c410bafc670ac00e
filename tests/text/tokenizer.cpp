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
  REQUIRE(e.ids.size() == e.ranges.size());
  std::string out;
  for (std::size_t i = 0; i < e.ids.size(); ++i) {
    out += (i > 0 ? " " : "") + std::to_string(e.ids[i]) + ':' + std::to_string(e.types[i]);
    out += ':' + std::to_string(e.ranges[i].begin) + '-' + std::to_string(e.ranges[i].end);
  }
  return out;
}

TEST_CASE("drawn texts and pairs have the reference's ids, types and ranges, cut as it cuts them", "[tokenizer]") {
  for (auto const& r : reference::all) {
    CAPTURE(r.name);
    tokenizer const coder = tokenizer::load(file_of(r.name));
    text_draws d{3};
    for (std::uint32_t const wanted : r.of_groups) {
      byte_sum s;
      for (int k = 0; k < reference::texts; ++k) {
        std::string const first = mixed(d), second = mixed(d);
        auto const [most, how] = reference::cuts[d.under(std::size(reference::cuts))];
        tx::text::encode_options const options{.most = static_cast<std::size_t>(most), .how = how, .ranges = true};
        auto const add = [&](auto const&... texts) {
          try {
            auto const e = coder.encode(texts..., options);
            s.add(line_of(e) + '\n');
            auto without = options;
            without.ranges = false;
            auto const plain = coder.encode(texts..., without);
            CHECK((plain.ids == e.ids && plain.types == e.types && plain.ranges.empty()));
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

TEST_CASE("what older files say of a prefix is read", "[tokenizer]") {
  nlohmann::json json = tx::io::read_json(file_of("deberta"));
  auto const said = [&](nlohmann::json const& metaspace) {
    json["pre_tokenizer"] = metaspace;
    return tokenizer::of(json, "file").ids_of("the tokens");
  };
  nlohmann::json const plain = {{"type", "Metaspace"}, {"replacement", "\u2581"}};
  auto with = plain, without = plain, never = plain;
  with["add_prefix_space"] = true;
  without["add_prefix_space"] = false;
  never["prepend_scheme"] = "never";
  CHECK(said(with) == said(plain));
  CHECK(said(without) == said(never));
  CHECK(said(without) != said(plain));
}

TEST_CASE("an accent that stays goes before the iota below", "[tokenizer]") {
  tx::text::encoding const e = tokenizer::load(file_of("uncased")).encode("the \U0001e949\u0345\u1b44 the", {.special_tokens = false, .ranges = true});
  REQUIRE(e.ids.size() >= 3);
  std::vector<std::string> words;
  tx::text::for_each_word("a\U0001e949\u0345\u1b44b", [&](std::string_view word, std::size_t) {
    words.emplace_back(word);
    return true;
  });
  CHECK(words == std::vector<std::string>{"a\u1b44\U0001e949b"});
}

TEST_CASE("added tokens beside each other and within each other are found as the reference finds them", "[tokenizer]") {
  nlohmann::json json = tx::io::read_json(file_of("roberta"));
  auto const with = [&](nlohmann::json const& one, nlohmann::json const& other) {
    nlohmann::json all = json;
    all["added_tokens"].push_back(one);
    all["added_tokens"].push_back(other);
    return tokenizer::of(all, "file");
  };
  // What is found in changed texts comes behind what is found as it is written, also where nothing changes texts.
  auto const mixed = with({{"id", 332}, {"content", "abc"}, {"normalized", true}}, {{"id", 333}, {"content", "ab"}, {"normalized", false}});
  CHECK(mixed.ids_of("xabcx") == ids{223, 90, 333, 223, 69, 90});
  CHECK(mixed.ids_of("abc ab") == ids{333, 223, 69, 223, 333});
  // One that begins with a space is found behind one that takes spaces.
  auto const spaces = with({{"id", 332}, {"content", "<r>"}, {"normalized", false}, {"rstrip", true}}, {{"id", 333}, {"content", " q"}, {"normalized", false}});
  CHECK(spaces.ids_of("a<r>  qb") == ids{266, 332, 333, 223, 68});
  CHECK(spaces.ids_of("<r> q") == ids{332, 333});
  CHECK(spaces.ids_of("<r> <r> q q") == ids{332, 332, 333, 333});
  // A space that is a token takes those beside it, but none that is taken.
  auto const space = [&](bool left, bool right) {
    return with({{"id", 332}, {"content", "<r>"}, {"normalized", false}, {"rstrip", true}}, {{"id", 333}, {"content", " "}, {"normalized", false}, {"lstrip", left}, {"rstrip", right}});
  };
  auto const before = space(true, false), behind = space(false, true), both = space(true, true);
  CHECK(before.ids_of("a   b") == ids{266, 333, 333, 333, 223, 68});
  CHECK(before.ids_of("a <r> b") == ids{266, 333, 332, 223, 68});
  CHECK(before.ids_of("<r> <r>") == ids{332, 332});
  CHECK(before.ids_of("<r>   x") == ids{332, 223, 90});
  CHECK(behind.ids_of("a   b") == ids{266, 333, 333, 333, 223, 68});
  CHECK(behind.ids_of("<r>  ") == ids{332, 333, 333});
  CHECK(both.ids_of("a   b") == ids{266, 333, 223, 68});
  CHECK(both.ids_of("<r> x") == ids{332, 223, 90});
  for (auto const* coder : {&before, &behind, &both})
    for (std::string const text : {"<r>   ", "a<r>   x", "  <r>  <r> \u3000 q"})
      for (auto const& r : coder->encode(text, {.ranges = true}).ranges) CHECK((r.begin <= r.end && r.end <= text.size()));
  std::size_t const many = 300000;  // in moments, not in minutes
  CHECK(behind.ids_of(std::string(many, ' ')) == ids(many, 333));
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
  for (auto const how : {truncation::longest_first, truncation::only_first, truncation::only_second}) CHECK(kept(5, 9, 0, how) == two{0, 0});
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

TEST_CASE("many strings are found again", "[tokenizer]") {
  std::vector<std::string> texts;
  text_draws d{6};
  for (int k = 0; k < 60000; ++k) texts.push_back(d.text());
  std::vector<std::pair<std::string_view, std::int32_t>> strings;
  for (auto const& t : texts) strings.emplace_back(t, static_cast<std::int32_t>(strings.size()));
  tx::text::detail::byte_automaton const found(strings);  // in seconds, not in hours
  for (auto const& t : texts) CHECK(texts[static_cast<std::size_t>(found.find(t).value())] == t);
  CHECK(found.find("no such string") == std::nullopt);
  CHECK(found.find("") == std::nullopt);
}

TEST_CASE("added tokens that are found in changed texts have names and ids", "[tokenizer]") {
  tokenizer const coder = tokenizer::load(file_of("xlm_r"));
  REQUIRE(coder.id("<mask>"));
  CHECK(coder.size() == static_cast<std::size_t>(*coder.id("<mask>")) + 1);
  CHECK(coder.ids_of(" <mask>") == ids{*coder.id("<mask>")});
}

TEST_CASE("bytes that are not UTF-8 are U+FFFD to unigrams, too", "[tokenizer]") {
  for (char const* const name : {"t5", "t5_first", "bare", "fallback"}) {
    tokenizer const coder = tokenizer::load(file_of(name));
    auto const broken = coder.encode("the \xC3 \xE2\x82text", {.ranges = true}), whole = coder.encode("the \uFFFD \uFFFDtext");
    CHECK(broken.ids == whole.ids);
    CHECK(coder.ids_of("the \xC3 \xE2\x82text") == coder.ids_of("the \uFFFD \uFFFDtext"));
    for (auto const& r : broken.ranges) CHECK((r.begin <= r.end && r.end <= 12));
  }
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

TEST_CASE("an added token has the id of the last of equal pieces, however many tokens there are", "[tokenizer]") {
  nlohmann::json json = nlohmann::json::parse(
      R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0], ["a", -2.0]]}, "added_tokens": [{"id": 2, "content": "a"}]})");
  CHECK(tokenizer::of(json, "file").ids_of("a") == ids{2});
  json["added_tokens"][0]["id"] = 1;
  CHECK_THROWS_WITH(tokenizer::of(json, "file"), "file: the id of the added token 'a' is 1, not 2");
  json["added_tokens"] = nlohmann::json::array();
  std::size_t const many = 30000;  // in moments, not in minutes
  for (std::size_t i = 0; i < many; ++i) json["model"]["vocab"].push_back(nlohmann::json::array({"p" + std::to_string(i), -1.0}));
  for (std::size_t i = 0; i < many; ++i) json["added_tokens"].push_back({{"id", 3 + i}, {"content", "p" + std::to_string(i)}, {"normalized", false}});
  CHECK(tokenizer::of(json, "file").size() == std::size_t{3} + many);
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
    write("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer", "add_prefix_space": true, "cls_token": "<s>"})");
    auto const prefixed = tokenizer::load(folder.path).encode("the the", {.ranges = true});
    CHECK(tokenizer::load(folder.path).ids_of("the") == whole.ids_of(" the"));
    // The space that is put before a text is none of its own, so the first word has all its letters; a space before another word is none of its.
    auto const begins = [](tx::text::encoding const& e) {
      std::vector<std::size_t> out;
      for (auto const& r : e.ranges)
        if (r.begin < r.end) out.push_back(r.begin);
      return out;
    };
    CHECK(begins(prefixed).front() == 0);
    CHECK(std::ranges::count(begins(prefixed), 3u) == 0);
    // GPT-2's has nothing around texts, and a space is a part of the word behind it.
    write("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})");
    auto const plain = tokenizer::load(folder.path).encode("the the", {.ranges = true});
    CHECK(plain.ids == whole.ids_of("the the"));
    CHECK(std::ranges::count(begins(plain), 3u) == 1);
  }
  SECTION("whose settings say what is not known") {
    auto const refused = [&](char const* name, std::string const& text, std::string const& reason) {
      write(name, text);
      CAPTURE(name, text);
      CHECK_THROWS_WITH(tokenizer::load(folder.path), Catch::Contains(reason) && Catch::Contains("FIX: save a tokenizer.json"));
      std::filesystem::remove(folder / name);
    };
    write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n");
    refused("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})", "'BertJapaneseTokenizer' reads such files in another way");
    refused("tokenizer_config.json", R"({"cls_token": "<s>"})", "the token '<s>' is none of those");
    refused("special_tokens_map.json", R"({"mask_token": {"content": "<m>"}})", "the token '<m>' is none of those");
    refused("special_tokens_map.json", R"({"mask_token": 3})", "a token is 3");
    refused("added_tokens.json", R"({"[ent]": 6})", "the token '[ent]' is none of those");
    refused("tokenizer_config.json", R"({"added_tokens_decoder": {"3": {"content": "[CLS]"}}})", "the id of the token '[CLS]' is 3, in the vocabulary 2");
    refused("tokenizer_config.json", R"({"add_bos_token": true})", "add_bos_token is known in a tokenizer.json alone");
    write("tokenizer_config.json", R"({"tokenizer_class": "BertTokenizerFast", "cls_token": "[CLS]", "added_tokens_decoder": {"2": {"content": "[CLS]"}}})");
    CHECK(tokenizer::load(folder.path).encode("the").ids == ids{2, 5, 3});
  }
}

TEST_CASE("parts of a tokenizer.json that are not known are refused by name", "[tokenizer]") {
  auto const refused = [](char const* of, std::string const& pointer, nlohmann::json const& value, std::string const& reason) {
    nlohmann::json json = tx::io::read_json(file_of(of));
    json[nlohmann::json::json_pointer(pointer)] = value;
    CAPTURE(pointer, value.dump());
    CHECK_THROWS_WITH(tokenizer::of(json, "file"), Catch::StartsWith("file: ") && Catch::Contains(reason));
  };
  refused("uncased", "/model/type", "WordLevel", "a model 'WordLevel' is not known");
  refused("uncased", "/model/unk_token", "<unk>", "unk_token is '<unk>'; known is '[UNK]'");
  refused("uncased", "/model/max_input_chars_per_word", 50, "max_input_chars_per_word is 50; known is 100");
  refused("uncased", "/model/vocab", {{"a", 0}}, "the vocabulary lacks [UNK]");
  refused("uncased", "/model/vocab", {{"a", 0}, {"b", 0}}, "the id 0 is given twice");
  refused("uncased", "/model/vocab", {{"a", 7}}, "the id of 'a' is 7");
  refused("uncased", "/model/vocab", 3, "the vocabulary is no object");
  refused("uncased", "/normalizer", {{"type", "ByteLevel"}}, "a normalizer 'ByteLevel' is not known. FIX: one of NFC, NFD");
  refused("uncased", "/normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "BertNormalizer"}}, {{"type", "NFC"}}}}},
          "a normalizer 'BertNormalizer' is known as the last one beside WordPiece alone. FIX: put it last");
  refused("uncased", "/normalizer/lowercase", 1, "lowercase is 1, not true or false");
  refused("uncased", "/pre_tokenizer/type", "Whitespace", "a pre_tokenizer 'Whitespace' is not known beside WordPiece");
  refused("uncased", "/post_processor", {{"type", "Other"}}, "a post_processor 'Other' is not known");
  refused("uncased", "/post_processor/special_tokens", nlohmann::json::object(), "the special token '[CLS]' of the post_processor has no ids");
  refused("uncased", "/post_processor/single", {{{"Sequence", {{"id", "C"}}}}}, "a part of the post_processor is a 'Sequence' 'C'");
  refused("uncased", "/added_tokens/0/normalized", true, "the added token '[PAD]' is found in text that BERT's normalizer has changed, which is not known. FIX: add it");
  refused("uncased", "/added_tokens/0/id", -1, "the id of '[PAD]' is -1");
  refused("uncased", "/added_tokens/0/content", "", "an added token is empty");
  refused("uncased", "/added_tokens", 3, "added_tokens are no list");
  refused("uncased", "/added_tokens/0/id", 7, "the id of the added token '[PAD]' is 7, not 0");
  refused("uncased", "/added_tokens/4/content", "[CLS]", "the added token '[CLS]' is given twice");
  refused("uncased", "/added_tokens/4", {{"id", 150}, {"content", "<x>"}}, "the id of the added token '<x>' is 150, not 142");
  refused("uncased", "/post_processor/single", {{{"Sequence", {{"id", "B"}, {"type_id", 0}}}}}, "the post_processor's template of one text names a second");
  refused("gpt2", "/normalizer", {{"type", "BertNormalizer"}}, "a normalizer 'BertNormalizer' is known as the last one beside WordPiece alone");
  refused("gpt2", "/pre_tokenizer", {{"type", "Metaspace"}}, "a pre_tokenizer 'Metaspace' is not known beside BPE");
  refused("gpt2", "/pre_tokenizer/use_regex", false, "use_regex is false; known is true");
  refused("gpt2", "/model/end_of_word_suffix", "</w>", "end_of_word_suffix is '</w>'");
  refused("gpt2", "/model/dropout", 0.1, "dropout is 0.1");
  refused("gpt2", "/model/merges", 3, "the merges are no list");
  refused("gpt2", "/model/merges/0", 3, "merge number 1 is not of two tokens");
  refused("roberta", "/post_processor/cls", 3, "the post_processor lacks cls");
  refused("roberta", "/post_processor/cls/1", 1000, "the post_processor names the id 1000, which no token has");
  refused("xlm_r", "/normalizer", {{"type", "Replace"}, {"pattern", {{"String", "<mask>"}}}, {"content", ""}},
          "the added token '<mask>' is found in changed text, in which nothing is left of it. FIX: add it with normalized=False");
  refused("t5", "/model/vocab", 3, "the vocabulary is no list of pieces with scores");
  refused("t5", "/model/vocab/2", {"a", "b"}, "the piece 2 is not a text with a score");
  refused("t5", "/model/unk_id", nullptr, "the unk_id is null, which no piece has");
  refused("t5", "/model/unk_id", 1000000, "the unk_id is 1000000, which no piece has");
  refused("t5", "/model/byte_fallback", 1, "byte_fallback is 1, not true or false");
  refused("t5", "/normalizer", {{"type", "Other"}}, "a normalizer 'Other' is not known");
  refused("t5", "/normalizer", 3, "the normalizer lacks a type");
  refused("t5", "/normalizer/precompiled_charsmap", "AAA", "the precompiled_charsmap is no base64");
  refused("t5", "/normalizer/precompiled_charsmap", "AAA=", "the precompiled_charsmap lacks its size");
  refused("t5", "/normalizer", {{"type", "Sequence"}}, "the normalizer lacks its normalizers");
  refused("t5", "/normalizer", {{"type", "Prepend"}, {"prepend", ""}}, "prepend is empty");
  refused("t5", "/normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", "a|b"}}}, {"content", ""}}, "the pattern of Replace is 'a|b'; known are texts and the expression ' {2,}'");
  refused("t5", "/normalizer", {{"type", "Replace"}, {"pattern", {{"String", ""}}}, {"content", ""}}, "the pattern of Replace is ''");
  refused("t5", "/normalizer", {{"type", "Replace"}, {"pattern", "a"}, {"content", ""}}, "the pattern of Replace is 'a'");
  refused("t5", "/normalizer", {{"type", "Strip"}, {"strip_left", 1}}, "strip_left is 1");
  refused("t5", "/pre_tokenizer", {{"type", "Punctuation"}}, "a pre_tokenizer 'Punctuation' is not known beside Unigram");
  refused("t5", "/pre_tokenizer/pretokenizers/1/replacement", "ab", "the replacement 'ab' is not one character");
  refused("t5", "/pre_tokenizer/pretokenizers/1/prepend_scheme", "last", "the prepend_scheme 'last' is not known");
  refused("t5", "/pre_tokenizer/pretokenizers/1/add_prefix_space", false, "the prepend_scheme 'always' is not what add_prefix_space says");
  CHECK_THROWS_WITH(tokenizer::of(nlohmann::json::array(), "file"), Catch::Contains("is no JSON object"));
  CHECK_THROWS_WITH(tokenizer::of(nlohmann::json::object(), "file"), Catch::Contains("a model '' is not known"));
}

}  // namespace

TEST_CASE("each token says which text it is of, also one that is trimmed to nothing", "[tokenizer]") {
  auto const words = tx::text::tokenizer::load(TX_TEST_DIR "/tokenizers/roberta.json");
  auto const both = words.encode("one  two", "three", {.ranges = true});
  auto const begin = words.special_id("<s>"), end = words.special_id("</s>");
  REQUIRE(both.sources.size() == both.ids.size());
  std::vector<std::int32_t> first, second;
  for (std::size_t k = 0; k < both.ids.size(); ++k) {
    bool const around = both.ids[k] == begin || both.ids[k] == end;
    CHECK((both.sources[k] == tx::text::token_source::around) == around);
    if (both.sources[k] == tx::text::token_source::first) first.push_back(both.ids[k]);
    if (both.sources[k] == tx::text::token_source::second) second.push_back(both.ids[k]);
  }
  CHECK(first == words.ids_of("one  two"));
  CHECK(second == words.ids_of("three"));
  CHECK(words.encode("one").sources.empty());
}
