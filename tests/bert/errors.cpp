// What the program refuses, by its message; nothing is written then.
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
  refused(with("@folder", "@three.tsv"), "three.tsv has 3 labels ('counts', 'does not', 'perhaps'), the program was compiled for 2. FIX:");
  write("few.tsv", labelled(0, 4));
  refused(with("@folder", "@few.tsv"), "few.tsv has 4 texts, a step takes 8");
  write("bad.tsv", labelled(0, 16) + "counts\n");
  refused(with("@folder", "@bad.tsv"), "bad.tsv:17: 1 columns where a label, a text and perhaps a second text belong");
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

  auto const tokenizer = read("folder/tokenizer.json");
  write("folder/tokenizer.json", replaced(tokenizer, "\"vocab\":", "\"vocab\": 3, \"other\":"));
  refused(with("@folder"), "tokenizer.json");
  write("folder/tokenizer.json", replaced(tokenizer, "\"added_tokens\":", "\"added_tokens\": [{\"id\": 142, \"content\": \"<x>\", \"normalized\": false}], \"others\":"));
  refused(with("@folder"), "the tokenizer has 143 ids, the model's table 142");
  write("folder/tokenizer.json", tokenizer);

  std::string weights = read("folder/model.safetensors");
  weights.replace(weights.size() - 4, 4, std::string("\x00\x00\xc0\x7f", 4));
  write("folder/model.safetensors", weights);
  refused(with("@folder"), "holds a NaN or an infinity");
}

TEST_CASE_METHOD(bert_test, "an existing folder is left alone", "[bert]") {
  write("train.tsv", labelled(0, 8));
  REQUIRE(finetune("", "@first").code == 0);
  auto const before = read("first/model.safetensors");
  ran const again = finetune("", "@first");
  CHECK(again.code == 1);
  CHECK_THAT(again.error, Catch::Contains("exists and is not empty. FIX: another --out, or --resume"));
  CHECK(read("first/model.safetensors") == before);
}
