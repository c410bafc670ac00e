#include "../run_files.hpp"
#include "run.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

TEST_CASE_METHOD(twinbert_test, "train writes a model that score, encode and eval read") {
  ran const train = trained();
  INFO(train.error);
  REQUIRE(train.code == 0);
  CHECK_THAT(train.error, Catch::Contains("step 60/60") && Catch::Contains("tokens/s") && Catch::Contains("rate"));
  for (char const* name : {"config.json", "model.safetensors", "vocab.txt", "metrics.jsonl"})
    CHECK(std::filesystem::exists(path / "model" / name));
  CHECK_THAT(read("model/metrics.jsonl"), Catch::Contains("\"loss\":") && Catch::Contains("\"dev_auc\":"));

  ran const score = (*this)("score --model @model --pairs @labelled.tsv");
  REQUIRE(score.code == 0);
  CHECK(score.lines().size() == 64);
  ran const eval = (*this)("eval --model @model --pairs @labelled.tsv");
  REQUIRE(eval.code == 0);
  std::size_t const auc = eval.out.find("AUC ");
  REQUIRE(auc != std::string::npos);
  CHECK(std::stod(eval.out.substr(auc + 4)) > 0.8);
  CHECK_THAT(eval.out, Catch::Contains("recall@1"));

  write("texts", "alpha1 word2\n\nword3\n");
  ran const encode = (*this)("encode --model @model --side query --text @texts");
  REQUIRE(encode.code == 0);
  REQUIRE(encode.lines().size() == 3);
  for (auto const& line : encode.lines()) {
    CHECK(line.front() == '[');
    CHECK(std::ranges::count(line, ',') == 15);
  }
}

TEST_CASE_METHOD(twinbert_test, "bench times one text") {
  REQUIRE(trained("--steps 3 --bag-steps 3").code == 0);
  write("texts", "alpha1 word2\nword3\n");
  ran const bench = (*this)("bench --model @model --side doc --text @texts --runs 50");
  REQUIRE(bench.code == 0);
  double p50 = 0, p99 = 0;
  int texts = 0;
  REQUIRE(std::sscanf(bench.out.c_str(), "p50 %lf ms, p99 %lf ms over %d texts, 1 thread", &p50, &p99, &texts) == 3);
  CHECK(p50 > 0);
  CHECK(p99 >= p50);
  CHECK(texts == 50);
  write("nothing", "");
  CHECK((*this)("bench --model @model --side doc --text @nothing").code == 1);
  CHECK((*this)("bench --model @model --side both --text @texts").code == 1);
}

TEST_CASE_METHOD(twinbert_test, "a run has the steps that its options say, of what it learns from") {
  auto const last_step = [&] { return nlohmann::json::parse(ran{0, read("model/metrics.jsonl"), ""}.lines().back()).at("step").get<int>(); };
  REQUIRE(trained("--layers 0 --bag-steps 5").code == 0);
  CHECK(last_step() == 5);
  // Of 64 labelled pairs 32 match, in batches of 8.
  REQUIRE((*this)("train --pairs @labelled.tsv --dev @labelled.tsv --out @model --vocabulary 300 --layers 0 --epochs 2 --force").code == 0);
  CHECK(last_step() == 8);
}

TEST_CASE_METHOD(twinbert_test, "train writes a trace of one step") {
  REQUIRE(trained("--steps 12 --profile @trace.json").code == 0);
  check_trace(read("trace.json"), 50, 1'000'000);
  CHECK(trained("--steps 3 --force --profile @nowhere/trace.json").code == 1);
}

TEST_CASE_METHOD(twinbert_test, "an event file has what the lines of metrics have") {
  tx::io::ensure_directory(at("model/events"));
  write("model/events/events.out.tfevents.1.before", "of a run that is written over");
  write("model/events/mine", "");
  REQUIRE(trained("--steps 12 --bag-steps 10 --tensorboard --force").code == 0);
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator(path / "model/events"))
    if (entry.path().filename() != "mine") files.push_back(entry.path());
  CHECK(std::filesystem::exists(path / "model/events/mine"));
  REQUIRE(files.size() == 1);
  check_events(files[0], ran{0, read("model/metrics.jsonl"), ""}.lines());
}

TEST_CASE_METHOD(twinbert_test, "a model without its encoder trains and scores") {
  REQUIRE(trained("--layers 0 --steps 30").code == 0);
  CHECK(read("model/model.safetensors").find("encoder") == std::string::npos);
  CHECK((*this)("score --model @model --pairs @labelled.tsv").lines().size() == 64);
}

TEST_CASE_METHOD(twinbert_test, "the same seed gives the same files") {
  REQUIRE(trained("--seed 5").code == 0);
  REQUIRE((*this)("train --pairs @pairs.tsv --out @again --threads 2 --vocabulary 300 --seed 5").code == 0);
  CHECK(read("model/model.safetensors") == read("again/model.safetensors"));
  CHECK(read("model/vocab.txt") == read("again/vocab.txt"));
  REQUIRE((*this)("train --pairs @pairs.tsv --out @other --threads 2 --vocabulary 300 --seed 6").code == 0);
  CHECK(read("model/model.safetensors") != read("other/model.safetensors"));
}

TEST_CASE_METHOD(twinbert_test, "a pair's score does not depend on its neighbours") {
  REQUIRE(trained().code == 0);
  auto const scores = (*this)("score --model @model --pairs @pairs.tsv").lines();
  REQUIRE(scores.size() == 64);
  std::istringstream in(read("pairs.tsv"));
  std::string reversed;
  std::size_t i = 0;
  for (std::string line; std::getline(in, line); ++i) {
    reversed.insert(0, line + '\n');
    if (i % 20 != 0) continue;
    write("one.tsv", line + '\n');
    CHECK((*this)("score --model @model --pairs @one.tsv").lines() == std::vector<std::string>{scores[i]});
  }
  write("reversed.tsv", reversed);
  auto backwards = (*this)("score --model @model --pairs @reversed.tsv").lines();
  std::ranges::reverse(backwards);
  CHECK(backwards == scores);
}

// A short text fills a query's 8 places and a document's 24, the rest of which is padding.
TEST_CASE_METHOD(twinbert_test, "a text's vector does not depend on its padding") {
  REQUIRE(trained().code == 0);
  write("texts", "alpha1\nalpha2 word2\nword3\n\nalpha5 word1\n");
  ran const query = (*this)("encode --model @model --side query --text @texts");
  ran const document = (*this)("encode --model @model --side doc --text @texts");
  REQUIRE(query.code == 0);
  CHECK(query.lines().size() == 5);
  CHECK(query.out == document.out);
}

TEST_CASE_METHOD(twinbert_test, "an existing folder is kept") {
  REQUIRE(trained("--steps 3 --bag-steps 3").code == 0);
  std::string const before = read("model/model.safetensors");
  ran const again = trained("--steps 3 --bag-steps 3 --seed 9");
  CHECK(again.code == 1);
  CHECK_THAT(again.error, Catch::Contains("exists") && Catch::Contains("--force"));
  CHECK(read("model/model.safetensors") == before);
  REQUIRE(trained("--steps 3 --bag-steps 3 --seed 9 --set-aside").code == 0);
  CHECK(read("model.1/model.safetensors") == before);
  CHECK(read("model/model.safetensors") != before);
  REQUIRE(trained("--steps 3 --bag-steps 3 --force").code == 0);
  CHECK(read("model/model.safetensors") == before);
}
