// Pre-training as from a shell: words that are told better with each validation, a folder with transformers' names, and going on from weights.
#include "../../examples/bert/engine.hpp"
#include "run.hpp"

#include <tx/io/safetensors.hpp>

#include <nlohmann/json.hpp>

namespace {

struct pretrain_test : bert_test {
  pretrain_test() {
    // Each word is followed by the next, so a masked one can be told by its neighbours.
    static char const* const words[] = {"the", "tokens", "count", "too", "few", "words", "learning", "texts"};
    std::string text;
    for (int d = 0; d < 40; ++d) {
      for (int s = 0; s < 6; ++s) {
        for (int w = 0; w < 3; ++w) text += std::string(w == 0 ? "" : " ") + words[(d + s * 3 + w) % 8];
        text += '\n';
      }
      text += '\n';
    }
    write("texts", text);
  }
  ran pretrain(std::string const& more, std::string const& out = "@model", std::string const& rate = "0.02") const {
    return (*this)("pretrain --text @texts --dev @texts --out " + out + " --rate " + rate + " --dropout 0 --threads 1 " + more);
  }
  // What standard output says of masked words: the loss.
  static double loss_of(ran const& r) {
    double all = 0, of_words = 0;
    REQUIRE(std::sscanf(r.out.c_str(), "loss %lf: words %lf", &all, &of_words) == 2);
    return of_words;
  }
};

}  // namespace

TEST_CASE_METHOD(pretrain_test, "pre-training from nothing tells masked words, and goes on from its weights", "[pretraining]") {
  ran const begun = pretrain("--config @folder --steps 2 --batches @batches", "@begun");
  INFO(begun.error);
  REQUIRE(begun.code == 0);
  std::istringstream batches(read("batches"));
  int steps = 0;
  for (std::string line; std::getline(batches, line);) {
    auto const batch = nlohmann::json::parse(line);
    CHECK(batch.at("step") == ++steps);
    CHECK(batch.at("texts").size() == static_cast<std::size_t>(bert::compiled().batch));
    for (auto const& text : batch.at("texts")) {
      CHECK(text.at("ids").size() == text.at("types").size());
      CHECK(!text.at("places").empty());
      CHECK(text.at("places").size() == text.at("words").size());
      for (std::size_t const place : text.at("places")) CHECK(place < text.at("ids").size());
    }
  }
  CHECK(steps == 2);
  ran const train = pretrain("--config @folder --steps 300 --validations 2 --passes 0 --whole-words");
  INFO(train.error);
  REQUIRE(train.code == 0);
  CHECK(loss_of(train) < 0.6 * loss_of(begun));
  CHECK_THAT(train.out, Catch::Contains("right; pairs "));
  auto const weights = tx::io::safetensors::read(path / "model/model.safetensors");
  for (char const* name : {"cls.predictions.bias", "cls.predictions.transform.LayerNorm.weight", "cls.seq_relationship.weight", "bert.pooler.dense.weight", "bert.embeddings.word_embeddings.weight"})
    CHECK(weights.find(name) != nullptr);
  CHECK(nlohmann::json::parse(read("model/config.json")).at("architectures") == nlohmann::json{"BertForPreTraining"});

  ran const on = pretrain("--model @model --steps 2", "@on", "0");
  INFO(on.error);
  REQUIRE(on.code == 0);
  CHECK_THAT(on.error, !Catch::Contains("fresh"));
  CHECK(loss_of(on) == Approx(loss_of(train)).epsilon(1e-3));
  ran const tuned = (*this)("finetune --model @model --data @train.tsv --dev @dev.tsv --out @tuned --steps 2 --threads 1");
  INFO(tuned.error);
  REQUIRE(tuned.code == 0);
  CHECK_THAT(tuned.error, Catch::Contains("fresh: classifier.weight") && !Catch::Contains("fresh: bert."));
}

// Stopped and killed in turns, and gone on with, until it is done.
static void check_resumed(pretrain_test& test, std::string const& options) {
  ran const whole = test("pretrain --out @whole --batches @whole.batches --threads 1 " + options);
  INFO(whole.error);
  REQUIRE(whole.code == 0);
  auto const saved = [&] { return test.saved(); };
  std::string const command = "pretrain --out @cut --batches @cut.batches " + options;
  int signal = SIGTERM, code = test.signalled(command, signal, saved);
  auto const done = [&] { return test.is_done(code, signal); };
  for (int attempt = 0; attempt < 20 && !done(); ++attempt) {
    INFO(test.read(".err"));
    REQUIRE((code == 128 + signal || code == -signal));
    signal = attempt % 2 == 0 ? SIGKILL : SIGTERM;  // killed, it goes on from a state that was written in the background
    code = test.signalled(command + (saved() ? " --resume" : ""), signal, [&, round = 0]() mutable { return ++round > 40; });
  }
  if (!done()) code = test(command + " --resume --threads 1").code;
  REQUIRE(done());
  CHECK(test.read("cut/model.safetensors") == test.read("whole/model.safetensors"));
  CHECK(test.read("cut.batches") == test.read("whole.batches"));
}

TEST_CASE_METHOD(pretrain_test, "pre-training that is stopped and resumed is pre-training that was not", "[pretraining]") {
  check_resumed(*this, "--text @texts --dev @texts --config @folder --rate 0.02 --dropout 0 --steps 60 --save-every 5");
}

TEST_CASE_METHOD(pretrain_test, "pre-training from shards is that from their texts, where all documents are together", "[pretraining]") {
  ran const wrote = (*this)("shards --text @texts --model @folder --out @shards");
  INFO(wrote.error);
  REQUIRE(wrote.code == 0);
  CHECK_THAT(wrote.error, Catch::Contains("40 documents, 240 texts, "));
  ran const of_texts = pretrain("--config @folder --steps 40 --passes 2", "@of_texts");
  REQUIRE(of_texts.code == 0);
  std::string const options = " --dev @texts --config @folder --steps 40 --passes 2 --rate 0.02 --dropout 0 --threads 1 --out @";
  ran const of_shards = (*this)("pretrain --shards @shards" + options + "of_shards");
  INFO(of_shards.error);
  REQUIRE(of_shards.code == 0);
  CHECK(read("of_shards/model.safetensors") == read("of_texts/model.safetensors"));
  ran const of_windows = (*this)("pretrain --shards @shards --together 9" + options + "of_windows");
  REQUIRE(of_windows.code == 0);
  CHECK_THAT(of_windows.error, Catch::Contains("of 4 parts of a pass"));
  CHECK(read("of_windows/model.safetensors") != read("of_texts/model.safetensors"));
}

TEST_CASE_METHOD(pretrain_test, "pre-training from shards that is stopped and resumed is pre-training that was not", "[pretraining]") {
  REQUIRE((*this)("shards --text @texts --model @folder --out @shards").code == 0);
  check_resumed(*this, "--shards @shards --together 5 --passes 0 --dev @texts --config @folder --rate 0.02 --dropout 0 --steps 60 --save-every 5");
}

TEST_CASE_METHOD(pretrain_test, "texts that cannot be learned from", "[pretraining]") {
  auto const refused = [&](std::string const& command, std::string const& message) {
    ran const r = (*this)("pretrain " + command + " --threads 1");
    INFO(command << ": " << r.error);
    CHECK(r.code == 1);
    CHECK_THAT(r.error, Catch::Contains(message));
    CHECK_FALSE(std::filesystem::exists(path / "model"));
  };
  refused("--text @texts --dev @texts --out @model", "one of --model and --config");
  write("one", "the words\nand more\n");
  refused("--text @one --dev @texts --config @folder --out @model", "one: 1 documents. FIX: at least 2, with an empty line between them");
  write("bytes", "the words\n\nand \xff\n");
  refused("--text @bytes --dev @texts --config @folder --out @model", "bytes:3: not UTF-8");

  std::string const dev = " --dev @texts --config @folder --out @model";
  refused("--text @texts --shards @none" + dev, "one of --text and --shards");
  refused("--text @texts --together 5" + dev, "--together is of --shards");
  refused("--shards @folder" + dev, "folder has no shards of token ids. FIX: ");
  REQUIRE((*this)("shards --text @one --model @folder --out @few").code == 0);
  refused("--shards @few" + dev, "the shards have 1 documents. FIX: at least 2");
  REQUIRE((*this)("shards --text @texts --model @folder --out @shards").code == 0);
  CHECK_THAT((*this)("shards --text @texts --model @folder --out @shards").error, Catch::Contains("has shards already. FIX: "));
  std::string shard = read("shards/shard-00000.ids");
  shard[200] ^= 1;
  std::filesystem::create_directory(path / "damaged");
  write("damaged/shard-00000.ids", shard);
  refused("--shards @damaged" + dev, "shard-00000.ids: the ids are not what their checksum says. FIX: ");
  write("folder/tokenizer.json", read("folder/tokenizer.json") + "\n");
  refused("--shards @shards" + dev, "shards has ids of another tokenizer than ");
}
