#include "../../examples/twinbert/engine.hpp"
#include "../io/size_limit.hpp"
#include "run.hpp"

#include <tx/core/error.hpp>

using Catch::Contains;

namespace {

// Every failure is a message on standard error and exit code 1.
void check_fails(ran const& r, std::string const& message) {
  INFO(r.error);
  CHECK(r.code == 1);
  CHECK(r.out.empty());
  CHECK_THAT(r.error, Contains(message));
}

std::string replaced(std::string text, std::string const& from, std::string const& to) {
  std::size_t const at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE_METHOD(twinbert_test, "command lines") {
  check_fails((*this)(""), "command");
  check_fails((*this)("trian"), "did you mean train?");
  check_fails((*this)("train --pears x"), "unknown option --pears, did you mean --pairs?");
  check_fails((*this)("train --pairs"), "--pairs needs a value");
  check_fails((*this)("train pairs"), "'pairs' is no option");
  check_fails((*this)("train --out x"), "--pairs is missing");
  check_fails(trained("--rate fast"), "'fast'");
  check_fails(trained("--rate nan"), "'nan'");
  check_fails(trained("--steps 0"), "'0'");
  check_fails(trained("--layers 3"), "tx_add_twinbert");
  check_fails(trained("--steps 1 --seconds 1"), "exclude");
  check_fails((*this)("encode --model x --side both --text y"), "'both'");
  check_fails(trained("--rate 0.1 --force --rate=0.1"), "--rate is given twice. FIX");
  check_fails(trained("--force --force"), "--force is given twice");
  check_fails((*this)("score --model @a --pairs @pairs.tsv --model @b"), "--model is given twice");
  for (char const* command : {"train", "score", "encode", "eval"}) {
    ran const help = (*this)(command + std::string(" --help"));
    CHECK(help.code == 0);
    CHECK_THAT(help.out, Contains("usage: twinbert " + std::string(command)) && Contains("--help"));
  }
  CHECK((*this)("--help").code == 0);
}

TEST_CASE_METHOD(twinbert_test, "files that cannot be read or written") {
  check_fails((*this)("train --pairs @nothing --out @model"), "nothing");
  write("pairs.tsv", "query\tdocument\nonly a query\n");
  check_fails(trained(), "pairs.tsv:2: 1 column");
  write("pairs.tsv", "query\tdocument\t2\n");
  check_fails(trained(), "pairs.tsv:1: the label '2'");
  write("pairs.tsv", "query\tdocument\t0\n");
  check_fails(trained(), "nothing to train on");
  write("file", "");
  write("pairs.tsv", "query\tdocument\n");
  check_fails((*this)("train --pairs @pairs.tsv --out @file/model --vocabulary 300"), "file/model");
  check_fails((*this)("score --model @nothing --pairs @pairs.tsv"), "nothing/");
}

// The data are what takes long to read, so what is said of a folder comes before what is said of them.
TEST_CASE_METHOD(twinbert_test, "what cannot be written is found before the data are read") {
  std::string const train = "train --pairs @nothing --out ";
  write("file", "");
  check_fails((*this)(train + "@file"), "file: Not a directory");
  check_fails((*this)(train + "@file/model"), "file/model: Not a directory");
  check_fails((*this)(train + "/proc/model"), "/proc/model: ");
  check_fails((*this)(train + "@model --profile @nowhere/trace.json"), "nowhere/trace.json: No such file");
  check_fails((*this)(train + "@model --profile @file/trace.json"), "file/trace.json: Not a directory");
  check_fails((*this)(train + "@model --profile @"), ": Is a directory");
  check_fails((*this)(train + "@model --profile @./nothing"), "nothing would be written over");
  check_fails((*this)(train + "@model --profile @model/../model/model.safetensors"), "would be written over");
  check_fails((*this)(train + "@model --force --set-aside"), "exclude each other");
  check_fails((*this)(train + "@model --seconds 0"), "--seconds");
  CHECK_FALSE(std::filesystem::exists(path / "model"));  // nothing was trained: nothing is left

  tx::io::ensure_directory(at("model"));
  write("model/events", "");
  check_fails((*this)(train + "@model --force --tensorboard"), "model/events: Not a directory");
  write("model/checkpoints", "");
  check_fails((*this)(train + "@model --force"), "model/checkpoints: Not a directory");
  check_fails((*this)(train + "@model"), "exists and is not empty");
  tx::io::ensure_directory(at("other/model.safetensors"));
  check_fails((*this)(train + "@other --force"), "other/model.safetensors: Is a directory");
  check_fails((*this)(train + "@other --set-aside"), "nothing: No such file");  // nothing of it is in the way
  CHECK(std::filesystem::exists(path / "other/model.safetensors"));
  CHECK_FALSE(std::filesystem::exists(path / "other/.lock"));
  if (::geteuid() == 0) return;  // root writes everywhere
  std::filesystem::permissions(path / "other", std::filesystem::perms(0500));
  check_fails((*this)(train + "@other --force"), "other: Permission denied");
  check_fails((*this)(train + "@model --force --profile @other/trace.json"), "other/trace.json: Permission denied");
  std::filesystem::permissions(path / "other", std::filesystem::perms(0700));
}

TEST_CASE_METHOD(twinbert_test, "a disk that is full ends a run with what could not be written") {
  size_limit const full(20'000);  // room for all but the parameters
  check_fails(trained("--steps 3 --bag-steps 3"), "File too large");
  CHECK_FALSE(std::filesystem::exists(path / "model/model.safetensors"));
}

TEST_CASE_METHOD(twinbert_test, "folders that are no model of this program") {
  REQUIRE(trained("--steps 3 --bag-steps 3").code == 0);
  std::string const score = "score --model @model --pairs @pairs.tsv";
  std::string const config = read("model/config.json");
  std::string const parameters = read("model/model.safetensors");
  std::string const vocabulary = read("model/vocab.txt");

  write("model/config.json", "{");
  check_fails((*this)(score), "config.json: not JSON: error at byte 2");
  write("model/config.json", "{\"a\":" + std::string(100'000, '['));
  check_fails((*this)(score), "config.json: 'a' is nested; it holds one flat JSON object");
  write("model/config.json", std::string(100'000, '['));
  check_fails((*this)(score), "config.json: not a JSON object");
  write("model/config.json", replaced(config, "\"query_words\"", "\"loss\""));
  check_fails((*this)(score), "config.json: 'loss' is given twice");
  write("model/config.json", config + '\0');
  check_fails((*this)(score), "config.json: it holds a NUL byte");
  write("model/config.json", config + std::string(1 << 20, ' '));
  check_fails((*this)(score), "bytes; a config.json has at most 1048576");
  write("model/config.json", replaced(config, "\"num_attention_heads\": 2",
                                      "\"num_attention_heads\": \"\x1B[0m" + std::string(200, 'x') + '"'));
  check_fails((*this)(score), "config.json: not JSON");
  write("model/config.json", replaced(config, "\"num_attention_heads\": 2",
                                      "\"num_attention_heads\": \"\x7F" + std::string(200, 'x') + '"'));
  check_fails((*this)(score), "num_attention_heads is \"?xxxxx");
  CHECK((*this)(score).error.size() < 300);
  write("model/config.json", replaced(config, "\"num_attention_heads\": 2", "\"num_attention_heads\": 4"));
  check_fails((*this)(score), "num_attention_heads is 4; this program was compiled for 2");
  write("model/config.json", config);

  write("model/model.safetensors", parameters.substr(0, parameters.size() / 2));
  check_fails((*this)(score), "model.safetensors");
  write("model/model.safetensors", replaced(parameters, "[400,16]", "[16,400]"));
  check_fails((*this)(score), "word_embeddings.weight is f32[16, 400]; the model was compiled for f32[400, 16]");
  write("model/model.safetensors", replaced(parameters, "layernorm_before.bias", "layernorm_beyond.bias"));
  check_fails((*this)(score), "lacks the tensor towers.both.encoder.layer.0.layernorm_before.bias");
  write("model/model.safetensors", parameters);

  std::string longer = vocabulary;
  for (int i = 0; i < 400; ++i) longer += "extra" + std::to_string(i) + '\n';
  write("model/vocab.txt", longer);
  check_fails((*this)(score), "the model's table of words has 400");
  write("model/vocab.txt", "[PAD]\n[UNK]\n");
  check_fails((*this)(score), "lacks [CLS]");
  // Another one that fits the table in every way.
  write("model/vocab.txt", replaced(vocabulary, "alpha1\n", "alphas\n"));
  write("texts", "alpha1\n");
  for (std::string const& command : {score, std::string("eval --model @model --pairs @labelled.tsv"),
                                     std::string("encode --model @model --side doc --text @texts"),
                                     std::string("bench --model @model --side doc --text @texts")})
    check_fails((*this)(command), "model/vocab.txt is not the vocabulary that the model was trained with");
  write("model/vocab.txt", vocabulary);
  CHECK((*this)(score).code == 0);
  for (char const* const sum : {"\"\"", "7", "\"0123456789abcdefg\"", "\"0123456789ABCDEF\"", "null"}) {
    std::size_t const at = config.find("\"vocabulary_crc64\": ") + 20;
    write("model/config.json", config.substr(0, at) + sum + config.substr(config.find('\n', at)));
    check_fails((*this)(score), "vocabulary_crc64 is");
  }
  // Folders of before there was one have no checksum.
  std::size_t const key = config.find(",\n  \"vocabulary_crc64\"");
  write("model/config.json", config.substr(0, key) + config.substr(config.find('\n', key + 2)));
  write("model/vocab.txt", replaced(vocabulary, "alpha1\n", "alphas\n"));
  CHECK((*this)(score).code == 0);
}

TEST_CASE("a device that the program is not compiled for is refused") {
  CHECK_THROWS_WITH(twinbert::make_engine({.device = "tpu"}), Catch::Contains("--device tpu: this program is not compiled for it"));
  CHECK(twinbert::make_engine({.device = "cpu"})->steps_run() == 0);
}

TEST_CASE("a token id beyond the table is refused") {
  auto const e = twinbert::make_engine({1, 2});
  auto const& d = twinbert::compiled();
  std::vector<std::int32_t> ids(static_cast<std::size_t>(d.query_words), d.vocabulary);
  std::vector<float> vector(static_cast<std::size_t>(d.hidden));
  CHECK_THROWS_AS(e->encode(twinbert::side::query, ids, vector), tx::value_error);
}

TEST_CASE("fifty steps give the same parameters again and on any number of threads, bit by bit") {
  auto const& d = twinbert::compiled();
  auto const ids = [&](int words, int step) {
    std::vector<std::int32_t> out(static_cast<std::size_t>(d.batch * words));
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = static_cast<std::int32_t>((i * 31 + static_cast<std::size_t>(step) * 17) % 399);
    return out;
  };
  std::vector<float> const labels(static_cast<std::size_t>(d.batch), 1.0f);
  std::vector<std::vector<float>> results;
  for (int const threads : {2, 2, 1, 3}) {
    auto const e = twinbert::make_engine({7, threads});
    for (int step = 0; step < 50; ++step)
      e->train(ids(d.query_words, step), ids(d.train_document_words, step + 99), labels, {.dropout = 0.1}, true);
    results.push_back(e->read());
  }
  for (float const x : results[0]) REQUIRE(std::isfinite(x));
  for (auto const& other : results) CHECK(other == results[0]);
}
