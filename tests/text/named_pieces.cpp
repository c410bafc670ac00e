// Folders whose tokenizer is a file of SentencePiece alone: ids of texts and pairs against those of transformers' tokenizers in Python, and what is refused.
#include "../io/temp_folder.hpp"
#include "drawn_texts.hpp"
#include "named_pieces_reference.hpp"

#include <tx/text/tokenizer.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <thread>

namespace {

namespace reference = named_pieces_reference;
using tx::text::tokenizer;
using ids = std::vector<std::int32_t>;

std::string model_of(std::string const& name) { return tx::io::read_text(std::string(TX_TEST_DIR) + "/tokenizers/" + name + ".model"); }

std::string mixed(text_draws& d) {
  std::string out;
  for (std::uint32_t left = d.under(12); left > 0; --left) {
    std::uint32_t const kind = d.under(20);
    if (kind < 2) out += d.text();
    else if (kind < 4) out += d.anywhere();
    else out += reference::parts[d.under(std::size(reference::parts))];
  }
  return out;
}

std::string line_of(tx::text::encoding const& e) {
  REQUIRE(e.ids.size() == e.types.size());
  std::string out;
  for (std::size_t i = 0; i < e.ids.size(); ++i) out += (i > 0 ? " " : "") + std::to_string(e.ids[i]) + ':' + std::to_string(e.types[i]);
  return out + '\n';
}

struct model_folder {
  temp_folder folder;

  model_folder(std::string const& file, std::string const& model) { tx::io::write_file_atomic(folder.path / file, model_of(model)); }
  void write(std::string const& name, std::string const& text) const { tx::io::write_file_atomic(folder.path / name, text); }
  tokenizer load() const { return tokenizer::load(folder.path); }
};

TEST_CASE("drawn texts and pairs have the ids and types of transformers' tokenizers of a file of SentencePiece, cut as those cut them", "[named_pieces]") {
  for (reference::folder const& r : reference::all) {
    CAPTURE(r.name);
    model_folder const of(r.file, r.model);
    for (auto const& [name, text] : r.files) of.write(name, text);
    tokenizer const coder = of.load();
    CHECK(coder.size() == r.size);
    text_draws d{7};
    for (std::uint32_t const wanted : r.of_groups) {
      byte_sum s;
      for (int k = 0; k < reference::texts; ++k) {
        std::string const first = mixed(d), second = mixed(d);
        tx::text::encode_options const options{.most = d.under(4) * 5};
        auto with_ranges = options;
        with_ranges.ranges = true;
        auto const add = [&](auto const&... texts) {
          auto const e = coder.encode(texts..., options), ranged = coder.encode(texts..., with_ranges);
          s.add(line_of(e));
          CHECK((ranged.ids == e.ids && ranged.types == e.types));
          REQUIRE(ranged.ranges.size() == e.ids.size());
          std::size_t begins[] = {0, 0};  // tokens of a text follow one another, though those of one character may overlap
          for (std::size_t i = 0; i < e.ids.size(); ++i) {
            if (ranged.sources[i] == tx::text::token_source::around) continue;
            bool const is_second = ranged.sources[i] == tx::text::token_source::second;
            auto const range = ranged.ranges[i];
            CHECK((range.begin <= range.end && range.end <= (is_second ? second : first).size() && range.begin >= begins[is_second]));
            begins[is_second] = range.begin;
          }
        };
        add(first);
        add(first, second);
      }
      CHECK(s.value == wanted);
    }
  }
}

TEST_CASE("what tokens of a file of SentencePiece are called, and where they lie", "[named_pieces]") {
  model_folder const of("sentencepiece.bpe.model", "plain");
  of.write("config.json", R"({"model_type": "xlm-roberta"})");
  tokenizer const coder = of.load();
  tx::text::sentencepiece const own = tx::text::sentencepiece::load(of.folder.path / "sentencepiece.bpe.model");
  std::vector<std::string> const first{"<s>", "<pad>", "</s>", "<unk>"};
  for (std::size_t k = 0; k < first.size(); ++k) {
    CHECK(coder.name(static_cast<std::int32_t>(k)) == first[k]);
    CHECK(coder.special_id(first[k]) == static_cast<std::int32_t>(k));
  }
  CHECK(coder.name(4) == own.text(3));
  CHECK(coder.id(own.text(3)) == 4);
  CHECK(coder.size() == own.size() + 2);
  CHECK(coder.id("<mask>") == static_cast<std::int32_t>(own.size()) + 1);
  CHECK(coder.name(static_cast<std::int32_t>(coder.size())) == std::nullopt);
  CHECK(coder.name(-1) == std::nullopt);
  CHECK(coder.id("no such piece") == std::nullopt);
  CHECK_THROWS_WITH(coder.decode(ids{0, 2}), Catch::Contains("says nothing of decoding. FIX: "));
  // The spaces before <mask> are its own.
  auto const e = coder.encode("the  <mask> the", {.ranges = true});
  auto const mask = std::ranges::find(e.ids, *coder.id("<mask>")) - e.ids.begin();
  REQUIRE(mask < static_cast<std::ptrdiff_t>(e.ids.size()));
  CHECK(e.ranges[static_cast<std::size_t>(mask)] == tx::text::text_range{5, 11});
  CHECK(e.ranges[static_cast<std::size_t>(mask) - 1].end == 3);
  CHECK(coder.encode("").ids == ids{0, 2});
  CHECK(coder.encode("", "").ids == ids{0, 2, 2, 2});
  CHECK(coder.encode(" ").ids == ids{0, 2});
}

TEST_CASE("T5 puts no second </s> behind a text that ends with one", "[named_pieces]") {
  model_folder const of("spiece.model", "t5_pieces");
  of.write("config.json", R"({"model_type": "t5"})");
  tokenizer const coder = of.load();
  auto const the = coder.encode("the").ids;
  REQUIRE(the.back() == 1);
  CHECK(coder.encode("the</s>").ids == the);
  CHECK(coder.encode("the</s></s>").ids.size() == the.size() + 1);
  CHECK(coder.encode("</s>", "").ids == ids{1, 1});
  CHECK(coder.encode("the</s>", {.special_tokens = false}).ids == the);
  auto const ranged = coder.encode("the</s>", "the", {.ranges = true});
  CHECK(ranged.ids.size() == 2 * the.size());
  CHECK(ranged.ranges.size() == ranged.ids.size());
  CHECK(ranged.sources.back() == tx::text::token_source::around);
  CHECK(ranged.sources[the.size() - 1] == tx::text::token_source::first);
  CHECK(coder.encode("<extra_id_0>").ids == ids{static_cast<std::int32_t>(coder.size()) - 1, 1});
}

TEST_CASE("a file of SentencePiece of a class that is not known is refused by its name", "[named_pieces]") {
  auto const refused = [](std::string const& name, std::string const& text, std::string const& reason, std::string const& file = "spiece.model") {
    model_folder const of(file, "t5_pieces");
    of.write(name, text);
    CAPTURE(text);
    CHECK_THROWS_AS(of.load(), tx::format_error);
    CHECK_THROWS_WITH(of.load(), Catch::StartsWith(of.folder.path.string() + ": ") && Catch::Contains(reason) && Catch::Contains(". FIX: "));
  };
  std::string const config = "tokenizer_config.json";
  for (char const* const name : {"CamembertTokenizer", "AlbertTokenizerFast", "LlamaTokenizer", "BertTokenizer", "Other", ""})
    refused(config, nlohmann::json{{"tokenizer_class", name}}.dump(),
            "a file of SentencePiece of " + tx::io::shown(name) + " is not known; known is one of T5Tokenizer, XLMRobertaTokenizer, DebertaV2Tokenizer");
  refused("config.json", R"({"model_type": "albert"})", "a file of SentencePiece of 'the model_type albert' is not known");
  refused(config, R"({"tokenizer_class": 3})", "the tokenizer_class is 3");
  refused(config, R"({"do_lower_case": false})", "names the tokenizer's class, by which the ids of the pieces are told, though there is a tokenizer_config.json");
  refused("special_tokens_map.json", R"({"eos_token": "</s>"})", "though there is a special_tokens_map.json");
  refused("added_tokens.json", R"({"<word>": 130})", "though there is a added_tokens.json");
  refused("config.json", R"({"model_type": "t5"})", "there is no spiece.model, which is the file of a T5Tokenizer", "spm.model");
  auto const t5 = [&](nlohmann::json json, std::string const& reason) {
    json["tokenizer_class"] = "T5Tokenizer";
    refused(config, json.dump(), reason);
  };
  t5({{"sp_model_kwargs", {{"enable_sampling", true}}}}, "sp_model_kwargs is ");
  t5({{"split_special_tokens", true}}, "split_special_tokens is true, which is not known");
  t5({{"legacy", "no"}}, "legacy is 'no', not true or false");
  t5({{"extra_ids", -1}}, "extra_ids is -1");
  t5({{"extra_ids", 3}, {"additional_special_tokens", {"<extra_id_0>"}}}, "extra_ids is 3, and 1 of the additional_special_tokens are such");
  t5({{"additional_special_tokens", "<word>"}}, "the additional_special_tokens are no list");
  t5({{"eos_token", nullptr}}, "there is no eos_token");
  t5({{"eos_token", 3}}, "a token is 3");
  t5({{"added_tokens_decoder", {{"a", {{"content", "x"}}}}}}, "the id of the token 'x' is ");
  t5({{"added_tokens_decoder", {{"-1", {{"content", "x"}}}}}}, "the id of the token 'x' is -1");
  t5({{"added_tokens_decoder", {{"7", {{"content", ""}}}}}}, "an added token is empty");
  t5({{"added_tokens_decoder", {{"300", {{"content", "x"}}}, {"301", {{"content", "x"}}}}}}, "the added token 'x' has two ids");
  t5({{"added_tokens_decoder", {{"300", {{"content", "x"}, {"single_word", true}}}}}}, "the token 'x' is a single_word, which is not known");
  t5({{"added_tokens_decoder", {{"300", {{"content", "<x<y>z"}}}, {"301", {{"content", "<y>"}}}}}}, "the added token '<y>' stands within '<x<y>z'");
  t5({{"added_tokens_decoder", nlohmann::json::array()}}, "the added_tokens_decoder is no object");
  model_folder const of("spiece.model", "t5_pieces");
  of.write("config.json", R"({"model_type": "t5"})");
  of.write("special_tokens_map.json", R"({"sep_token": "<word>", "additional_special_tokens": ["<other>", "<word>"]})");
  CHECK_NOTHROW(of.load());
  of.write("added_tokens.json", R"({"<other>": 300})");
  CHECK_THROWS_WITH(of.load(), Catch::Contains("the token '<word>' is the last of the additional_special_tokens and another special token"));
}

TEST_CASE("XLM-R's files have their unknown piece first", "[named_pieces]") {
  model_folder const of("sentencepiece.bpe.model", "t5_pieces");
  of.write("tokenizer_config.json", R"({"tokenizer_class": "XLMRobertaTokenizer"})");
  CHECK_THROWS_WITH(of.load(), Catch::Contains("the unknown piece is number 2; in files of XLM-R it is 0. FIX: "));
}

TEST_CASE("a folder of a file of SentencePiece and nothing that names a class has the file's own ids", "[named_pieces]") {
  model_folder const of("spm.model", "deberta_pieces");
  auto const own = tx::text::sentencepiece::load(of.folder.path / "spm.model").encode("the [CLS] tokens");
  CHECK(of.load().encode("the [CLS] tokens").ids == own);
  of.write("config.json", R"({"hidden_size": 16})");
  CHECK(of.load().encode("the [CLS] tokens").ids == own);
}

TEST_CASE("threads may share a tokenizer of each kind", "[tokenizer]") {
  model_folder const t5("spiece.model", "t5_pieces"), plain("spm.model", "plain");
  t5.write("tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer", "legacy": false})");
  std::string const folder = std::string(TX_TEST_DIR) + "/tokenizers/";
  text_draws d{11};
  std::vector<std::string> texts;
  for (int k = 0; k < 200; ++k) texts.push_back(mixed(d));
  std::vector<std::filesystem::path> every{t5.folder.path, plain.folder.path};
  for (char const* const name : {"gpt2", "roberta", "t5", "xlm_r", "deberta"}) every.emplace_back(folder + name + ".json");
  for (std::filesystem::path const& path : every) {
    CAPTURE(path.string());
    tokenizer const coder = tokenizer::load(path);
    std::vector<ids> expected;
    for (auto const& text : texts) expected.push_back(tokenizer::load(path).encode(text).ids);  // of a tokenizer that has done nothing else
    std::vector<std::size_t> wrong(4);
    std::vector<std::thread> threads;
    for (std::size_t of = 0; of < wrong.size(); ++of)
      threads.emplace_back([&, of] {
        for (std::size_t i = 0; i < texts.size(); ++i) {
          std::size_t const k = (i + of * 50) % texts.size();
          wrong[of] += coder.encode(texts[k]).ids != expected[k] || coder.encode(texts[k], {.ranges = true}).ids != expected[k];
        }
      });
    for (auto& t : threads) t.join();
    CHECK(wrong == std::vector<std::size_t>(4));
  }
}

}  // namespace
