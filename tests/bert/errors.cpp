// What the program refuses, by its message; nothing is written then.
#include "../../examples/bert/dataset.hpp"
#include "run.hpp"

TEST_CASE_METHOD(bert_test, "folders and files that are refused", "[bert]") {
  auto const refused = [&](std::string const& command, std::string const& message) {
    ran const r = (*this)(command);
    INFO(command << ": " << r.error);
    CHECK(r.code == 1);
    CHECK(r.out == "");
    CHECK_THAT(r.error, Catch::StartsWith("bert: ") && Catch::Contains(message));
    CHECK_FALSE(std::filesystem::exists(path / "model"));
  };
  auto const with = [](std::string const& model, std::string const& data = "@train.tsv") {
    return "finetune --model " + model + " --data " + data + " --dev @dev.tsv --out @model --steps 1 --threads 1";
  };
  refused("finetune --model @folder", "--data");
  refused("finetun --model @folder", "did you mean finetune?");
  refused(with("@nowhere"), "there is no folder");
  refused(with("@folder", "@none.tsv"), "none.tsv");

  write("three.tsv", labelled(0, 16) + "perhaps\tthe words\n");
  refused(with("@folder", "@three.tsv"), "three.tsv has 3 labels ('counts', 'does not', 'perhaps'), the program was compiled for 2; 'perhaps' is in line 17 alone. FIX:");
  write("slip.tsv", "count\tthe words\n");
  refused("finetune --model @folder --data @train.tsv --dev @slip.tsv --out @model --steps 1", "slip.tsv:1: the label 'count' is none of the model's, 'counts', 'does not', did you mean counts?");
  refused(with("@folder") + " --length 128", "--length: '128' is no whole number from 8 to ");
  refused("finetune --model @nowhere --data @train.tsv --dev @dev.tsv --out @model --epochs two", "--epochs: 'two' is no number from 0.001 to 1e+06");
  refused(with("@folder") + " --resume", "--resume: there is no saved state in ");
  refused(with("@train.tsv"), "train.tsv is a file. FIX: the folder that has it");
  std::filesystem::create_directories(path / "bare");
  refused(with("@bare"), "bare has no config.json. FIX: a model's folder");
  std::filesystem::create_directories(path / "begun/checkpoints/checkpoint-000007");
  refused("predict --model @begun --text @folder/texts.txt", "begun is of a run that has not ended and has no model yet. FIX: the same command with --resume");
  write("few.tsv", labelled(0, 4));
  refused(with("@folder", "@few.tsv"), "few.tsv has 4 texts, a step takes 8");
  write("bad.tsv", labelled(0, 16) + "counts\n");
  refused(with("@folder", "@bad.tsv"), "bad.tsv:17: no tab where a label, a text and perhaps a second text belong");
  write("empty.tsv", labelled(0, 16) + "counts\t \n");
  refused(with("@folder", "@empty.tsv"), "empty.tsv:17: the text is empty");
  write("nothing.tsv", "");
  refused(with("@folder", "@nothing.tsv"), "no texts, the file is empty");

  auto const config = read("folder/config.json");
  auto const replaced = [](std::string text, std::string const& what, std::string const& by) { return text.replace(text.find(what), what.size(), by); };
  write("folder/config.json", replaced(config, "\"num_attention_heads\": 2", "\"num_attention_heads\": 4"));
  refused(with("@folder"), "num_attention_heads is 4 in the file and 2 in the program (heads)");
  refused("embed --model @folder --text @folder/texts.txt", "num_attention_heads is 4 in the file and 2 in the program (heads)");
  write("folder/config.json", replaced(config, "\"bert\"", "\"deberta\""));
  refused(with("@folder"), "its model_type is 'deberta'");
  write("folder/config.json", config);
  refused("predict --model @folder --text @folder/texts.txt", "lacks classifier.weight. FIX: a folder that was trained for labels");
  refused("embed --model @folder --text @folder/texts.txt --pool max", "--pool is mean or cls, not 'max'");
  refused("embed --model @folder --text @folder/texts.txt --bf16", "this program multiplies in f32 alone. FIX: no --bf16, or ");

  auto const tokenizer = read("folder/tokenizer.json");
  write("folder/tokenizer.json", replaced(tokenizer, "\"vocab\":", "\"vocab\": 3, \"other\":"));
  refused(with("@folder"), "tokenizer.json");
  write("folder/tokenizer.json", replaced(tokenizer, "\"added_tokens\":", "\"added_tokens\": [{\"id\": 142, \"content\": \"<x>\", \"normalized\": false}], \"others\":"));
  refused(with("@folder"), "the tokenizer has 143 ids, the model's table 142");
  write("folder/tokenizer.json", tokenizer);

  write("folder/config.json", replaced(config, "\"pad_token_id\": 0", "\"pad_token_id\": 3"));
  for (char const* const command : {"embed --model @folder --text @folder/texts.txt", "tokens --model @folder --text @folder/texts.txt"})
    refused(command, "pad_token_id is 3 in config.json, and the tokenizer's [PAD] is 0. FIX: the tokenizer that the model was trained with");
  write("folder/tokenizer_config.json", R"({"pad_token": {"content": "[MASK]"}})");
  refused(with("@folder"), "pad_token_id is 3 in config.json, and the tokenizer's [MASK] is 4");
  std::filesystem::remove(path / "folder/tokenizer_config.json");
  write("folder/config.json", config);

  std::string weights = read("folder/model.safetensors");
  weights.replace(weights.size() - 4, 4, std::string("\x00\x00\xc0\x7f", 4));
  write("folder/model.safetensors", weights);
  refused(with("@folder"), "holds a NaN or an infinity");
}

TEST_CASE("a tokenizer's ids fit the model's table", "[bert]") {
  auto const check = [](std::size_t ids, std::size_t rows, bool may_be_few = false) { bert::check_table("folder", ids, rows, may_be_few); };
  CHECK_NOTHROW(check(30522, 30522));
  CHECK_NOTHROW(check(32100, 32128));
  CHECK_NOTHROW(check(50265, 50432));  // the next multiple of 128 and one more
  CHECK_THROWS_WITH(check(50265, 50433), Catch::Contains("the tokenizer has 50265 ids, the model's table 50433 rows"));
  CHECK_THROWS_WITH(check(160, 30522), Catch::Contains("folder: the tokenizer has 160 ids, the model's table 30522 rows") && Catch::Contains("FIX: ") &&
                                           Catch::Contains("--fewer-ids"));
  CHECK_NOTHROW(check(160, 30522, true));
  CHECK_THROWS_WITH(check(143, 142, true), Catch::Contains("the tokenizer has 143 ids, the model's table 142. FIX: "));
}

TEST_CASE_METHOD(bert_test, "texts without a token of their own are refused by their line", "[bert]") {
  auto const refused = [&](std::string const& command, std::string const& message) {
    ran const r = (*this)(command);
    INFO(command << ": " << r.error);
    CHECK(r.code == 1);
    CHECK(r.out == "");
    CHECK_THAT(r.error, Catch::StartsWith("bert: ") && Catch::Contains(message) && Catch::Contains("has no token of its own") && Catch::Contains("FIX: "));
    CHECK_FALSE(std::filesystem::exists(path / "model"));
  };
  for (std::string const blank : {"\\n", "\u200b", "\\u00a0\\r", "\u3000 \u200d"}) {
    CAPTURE(blank);
    std::string const line = R"("text": ")" + blank + "\"}\n", labelled_line = R"({"label": "counts", )" + line;
    write("blank.json", labelled(0, 16) + labelled_line);
    refused("finetune --model @folder --data @blank.json --dev @dev.tsv --out @model --steps 1 --threads 1", "blank.json:17: the text ");
    refused("finetune --model @folder --data @train.tsv --dev @blank.json --out @model --steps 1 --threads 1", "blank.json:17: the text ");
    write("blank.txt", "the words\n{" + line);
    for (char const* const command : {"embed", "tokens"}) refused(std::string(command) + " --model @folder --text @blank.txt", "blank.txt:2: the text ");
    write("pairs.txt", R"({"text": "the words", "pair": ")" + blank + "\"}\n");
    refused("embed --model @folder --text @pairs.txt", "pairs.txt:1: the second text ");
  }
  REQUIRE(finetune().code == 0);
  std::filesystem::rename(path / "model", path / "trained");
  refused("eval --model @trained --data @blank.json --threads 1", "blank.json:17: the text ");
  refused("predict --model @trained --text @blank.txt --threads 1", "blank.txt:2: the text ");
  CHECK((*this)("predict --model @trained --text @folder/texts.txt --threads 1 --fewer-ids").code == 0);
}

TEST_CASE_METHOD(bert_test, "an existing folder is left alone", "[bert]") {
  write("train.tsv", labelled(0, 8));
  REQUIRE(finetune("", "@first").code == 0);
  auto const before = read("first/model.safetensors");
  ran const again = finetune("", "@first");
  CHECK(again.code == 1);
  CHECK_THAT(again.error, Catch::Contains("exists and is not empty. FIX: another --out") && !Catch::Contains("--resume"));
  std::filesystem::create_directories(path / "first/checkpoints/checkpoint-000007");
  CHECK_THAT(finetune("", "@first").error, Catch::Contains("FIX: another --out, or --resume"));
  CHECK(read("first/model.safetensors") == before);
}

TEST_CASE_METHOD(bert_test, "what is cut is counted, and pairs are said to be some", "[bert]") {
  std::string longer = "the";
  for (int i = 0; i < 60; ++i) longer += " words";
  write("longer.txt", "the words\n" + longer + "\n");
  ran const tokens = (*this)("tokens --model @folder --text @longer.txt");
  CHECK(tokens.code == 0);
  CHECK_THAT(tokens.error, Catch::Contains("longer.txt: 1 of 2 texts are cut, to the 30 tokens that the model reads"));
  CHECK_THAT((*this)("embed --model @folder --text @longer.txt --threads 1").error, Catch::Contains("1 of 2 texts are cut, to the 12 tokens"));  // as its sentence_bert_config.json says
  CHECK_THAT((*this)("embed --help").out, Catch::StartsWith("usage: bert embed") && Catch::Contains("more than 30 tokens are cut"));

  REQUIRE(finetune().code == 0);
  CHECK((*this)("predict --model @model --text @longer.txt --threads 1").error == tokens.error);
  ran const labels = (*this)("predict --model @model --text @dev.tsv --threads 1");
  CHECK(labels.code == 0);
  CHECK_THAT(labels.error, Catch::Contains("dev.tsv: 16 pairs of texts, with a tab between them; the first of each is a label: eval is for such files"));
  write("pairs.txt", "the words\tthe texts\n");
  CHECK_THAT((*this)("embed --model @folder --text @pairs.txt --threads 1").error, Catch::EndsWith("pairs.txt: 1 pairs of texts, with a tab between them\n"));
}
