#include "../run_files.hpp"
#include "run.hpp"

#include <tx/io/safetensors.hpp>
#include <tx/text/pairs.hpp>

#include <nlohmann/json.hpp>

#include <cstring>

TEST_CASE_METHOD(bert_test, "finetune leaves a folder that predict, eval and embed read", "[bert]") {
  ran const train = finetune();
  INFO(train.error);
  REQUIRE(train.code == 0);
  CHECK_THAT(train.out, Catch::Contains("accuracy ") && Catch::Contains("over 16 texts"));
  CHECK_THAT(train.error, Catch::Contains("fresh: classifier.weight") && Catch::Contains("tokens/s") && !Catch::Contains("fresh: bert.pooler"));
  CHECK(read("model/tokenizer.json") == read("folder/tokenizer.json"));
  CHECK_FALSE(std::filesystem::exists(path / "model/checkpoints"));
  CHECK_THAT(read("model/metrics.jsonl"), Catch::Contains("\"dev_accuracy\":"));

  auto const config = nlohmann::json::parse(read("model/config.json"));
  CHECK(config.at("architectures") == nlohmann::json{"BertForSequenceClassification"});
  CHECK(config.at("id2label") == nlohmann::json{{"0", "counts"}, {"1", "does not"}});
  CHECK(config.at("label2id") == nlohmann::json{{"counts", 0}, {"does not", 1}});
  CHECK(config.at("problem_type") == "single_label_classification");
  CHECK(config.at("hidden_size") == 16);
  auto const weights = tx::io::safetensors::read(path / "model/model.safetensors");
  CHECK(weights.find("bert.encoder.layer.1.attention.self.query.weight") != nullptr);
  CHECK(weights.find("bert.pooler.dense.bias") != nullptr);
  CHECK(weights.find("classifier.weight") != nullptr);
  CHECK(weights.tensors().size() == 5 + 2 * 16 + 2 + 2);

  ran const eval = (*this)("eval --model @model --data @dev.tsv");
  INFO(eval.error);
  REQUIRE(eval.code == 0);
  double accuracy = 0;
  REQUIRE(std::sscanf(eval.out.c_str(), "accuracy %lf", &accuracy) == 1);
  CHECK(accuracy == 1);
  CHECK_THAT(eval.out, Catch::Contains("F1 1.0000  Matthews 1.0000  AUC 1.0000  over 16 texts") && Catch::Contains("  does not  precision 1.0000  recall 1.0000  F1 1.0000  of 8 texts"));

  write("texts", "count the few tokens\ntoo the few tokens\n");
  ran const told = (*this)("predict --model @model --text @texts");
  REQUIRE(told.code == 0);
  REQUIRE(told.lines().size() == 2);
  CHECK_THAT(told.lines()[0], Catch::StartsWith("counts\t0.") && Catch::EndsWith("\tcount the few tokens"));
  CHECK_THAT(told.lines()[1], Catch::StartsWith("does not\t0."));

  ran const vectors = (*this)("embed --model @model --text @texts");
  REQUIRE(vectors.code == 0);
  CHECK(vectors.lines().size() == 2);

  // A trained folder is one to begin with: labels keep their numbers, and the head is not fresh.
  ran const again = (*this)("finetune --model @model --data @train.tsv --dev @dev.tsv --out @again --steps 1 --threads 1");
  REQUIRE(again.code == 0);
  CHECK_THAT(again.error, !Catch::Contains("fresh"));
  CHECK(nlohmann::json::parse(read("again/config.json")).at("id2label") == config.at("id2label"));
}

TEST_CASE_METHOD(bert_test, "JSON lines and pairs of texts", "[bert]") {
  std::string lines;
  for (int i = 0; i < 16; ++i) lines += R"({"text": ")" + sentence(i) + R"(", "pair": "the words", "label": )" + std::to_string(i % 2) + "}\n";
  write("train.jsonl", lines);
  ran const train = (*this)("finetune --model @folder --data @train.jsonl --dev @train.jsonl --out @model --steps 3 --threads 1");
  INFO(train.error);
  REQUIRE(train.code == 0);
  CHECK(nlohmann::json::parse(read("model/config.json")).at("id2label") == nlohmann::json{{"0", "0"}, {"1", "1"}});
  write("texts", "the few\tthe tokens\n");
  ran const told = (*this)("predict --model @model --text @texts");
  REQUIRE(told.code == 0);
  CHECK_THAT(told.out, Catch::EndsWith("\tthe few\tthe tokens\n"));

  // Pairs with the probability of the second label, as pairs with labels from 0 to 1 are read.
  ran const scored = (*this)("predict --model @model --text @texts --scores");
  REQUIRE(scored.code == 0);
  auto const pairs = tx::text::parse_pairs(scored.out);
  REQUIRE(pairs.size() == 1);
  CHECK(pairs[0].document == "the tokens");
  int label = -1;
  double probability = -1;
  REQUIRE(std::sscanf(told.out.c_str(), "%d %lf", &label, &probability) == 2);
  CHECK(pairs[0].label == Approx(label == 1 ? probability : 1 - probability).margin(1e-6));
  write("texts", "the few\n");
  CHECK_THAT((*this)("predict --model @model --text @texts --scores").error, Catch::Contains("--scores are of pairs of texts, by a program of two labels. FIX:"));

  // A label is no matter to what learns nothing; what predict prints has a line for each text.
  write("texts", R"({"text": "the few", "pair": "words", "label": "other"})" "\n");
  for (char const* const command : {"predict", "embed", "tokens"}) {
    ran const one = (*this)(std::string(command) + " --model @model --text @texts");
    INFO(command << ": " << one.error);
    CHECK(one.code == 0);
    CHECK(one.lines().size() == 1);
  }
  for (char const* const with : {R"(the\tfew", "pair": "words)", R"(the few", "pair": "the\nwords)", R"(the few\r", "pair": "words)"}) {
    write("texts", R"({"text": "the", "pair": "few"})" "\n" R"({"text": ")" + std::string(with) + "\"}\n");
    for (char const* const scores : {"", " --scores"}) {
      ran const refused = (*this)(std::string("predict --model @model --text @texts") + scores);
      CHECK(refused.code == 1);
      CHECK(refused.out == "");
      CHECK_THAT(refused.error, Catch::Contains("texts:2: the text has a tab or an end of a line") && Catch::Contains("FIX: "));
    }
  }
}

TEST_CASE_METHOD(bert_test, "vectors are transformers', pooled as sentence-transformers' folder says", "[bert]") {
  auto const reference = tx::io::safetensors::read(path / "folder/vectors.safetensors");
  auto const check = [&](std::string const& more, char const* name) {
    ran const r = (*this)("embed --model @folder --text @folder/texts.txt " + more);
    INFO(r.error);
    REQUIRE(r.code == 0);
    auto const* wanted = reference.find(name);
    REQUIRE(wanted != nullptr);
    std::vector<float> numbers(wanted->bytes.size() / 4);
    std::memcpy(numbers.data(), wanted->bytes.data(), wanted->bytes.size());
    auto const lines = r.lines();
    REQUIRE(lines.size() * 16 == numbers.size());
    for (std::size_t t = 0; t < lines.size(); ++t) {
      auto const vector = nlohmann::json::parse(lines[t]).get<std::vector<float>>();
      REQUIRE(vector.size() == 16);
      for (std::size_t i = 0; i < 16; ++i) CHECK(vector[i] == Approx(numbers[t * 16 + i]).margin(2e-6));
    }
  };
  check("", "mean");  // the folder says: mean, of length 1, of 12 tokens at most
  check("--pool cls --normalize no", "first");
}

TEST_CASE_METHOD(bert_test, "tokens prints ids", "[bert]") {
  write("texts", "the few\nthe few\tthe tokens\n");
  ran const mixed = (*this)("tokens --model @folder --text @texts");
  CHECK(mixed.code == 1);
  CHECK_THAT(mixed.error, Catch::Contains("texts:2: a second text, which the first line lacks"));
  write("texts", "the few\nfew the\n");
  ran const r = (*this)("tokens --model @folder --text @texts");
  REQUIRE(r.code == 0);
  REQUIRE(r.lines().size() == 2);
  CHECK_THAT(r.lines()[0], Catch::StartsWith("2 ") && Catch::EndsWith(" 3"));
  CHECK(r.lines()[0] != r.lines()[1]);
}

TEST_CASE_METHOD(bert_test, "finetune writes a trace of one step, and events beside its metrics", "[bert]") {
  ran const train = finetune("--profile @trace.json --tensorboard");
  INFO(train.error);
  REQUIRE(train.code == 0);
  check_trace(read("trace.json"), 30, 100'000);

  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator(path / "model/events")) files.push_back(entry.path());
  REQUIRE(files.size() == 1);
  check_events(files[0], ran{0, read("model/metrics.jsonl"), ""}.lines());
}
