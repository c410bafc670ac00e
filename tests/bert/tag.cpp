// Labels of words as from a shell: "count" begins an entity that the next word goes on with.
#include "run.hpp"

#include <tx/io/safetensors.hpp>

#include <nlohmann/json.hpp>

namespace {

struct tag_test : bert_test {
  tag_test() {
    write("train.conll", tagged(0, 64));
    write("dev.conll", tagged(64, 16));
  }
  static std::string tagged(int first, int count) {
    std::string text;
    for (int i = first; i < first + count; ++i) {
      std::istringstream in("the " + sentence(i));
      int at = 0, begun = -1;
      for (std::string word; in >> word; ++at) {
        if (word == "count") begun = at;
        text += word + '\t' + (begun < 0 || at > begun + 1 ? "O" : at == begun ? "B-X" : "I-X") + '\n';
      }
      text += '\n';
    }
    return text;
  }
};

}  // namespace

TEST_CASE_METHOD(tag_test, "tag learns labels of words, scores and tells them", "[tag]") {
  ran const train = (*this)("tag --model @folder --data @train.conll --dev @dev.conll --out @model --rate 0.003 --epochs 30 --dropout 0 --threads 1");
  INFO(train.error);
  REQUIRE(train.code == 0);
  double accuracy = 0;
  REQUIRE(std::sscanf(train.out.c_str(), "accuracy %lf", &accuracy) == 1);
  CHECK(accuracy > 0.95);
  CHECK_THAT(train.out, Catch::Contains("F1 ") && Catch::Contains(" of 8 entities, of step "));
  CHECK_THAT(train.error, Catch::Contains("fresh: classifier.weight") && Catch::Contains("3 labels"));
  CHECK_THAT(read("model/metrics.jsonl"), Catch::Contains("\"dev_f1\":"));
  auto const config = nlohmann::json::parse(read("model/config.json"));
  CHECK(config.at("architectures") == nlohmann::json{"BertForTokenClassification"});
  CHECK(config.at("id2label") == nlohmann::json{{"0", "B-X"}, {"1", "I-X"}, {"2", "O"}});
  CHECK_FALSE(config.contains("problem_type"));
  CHECK(tx::io::safetensors::read(path / "model/model.safetensors").find("classifier.weight") != nullptr);

  ran const score = (*this)("tag --model @model --dev @dev.conll --threads 1");
  REQUIRE(score.code == 0);
  CHECK_THAT(train.out, Catch::StartsWith(score.out.substr(0, score.out.size() - 1)));

  write("words", "the\ncount\nfew\nwords\n\ntoo\nfew\n");
  ran const told = (*this)("tag --model @model --text @words --threads 1");
  INFO(told.error);
  REQUIRE(told.code == 0);
  CHECK(told.out == "the\tO\ncount\tB-X\nfew\tI-X\nwords\tO\n\ntoo\tO\nfew\tO\n");
}

TEST_CASE_METHOD(tag_test, "what tag refuses", "[tag]") {
  auto const refused = [&](std::string const& more, std::string const& message) {
    ran const r = (*this)("tag --model @folder " + more);
    INFO(more << ": " << r.error);
    CHECK(r.code == 1);
    CHECK_THAT(r.error, Catch::Contains(message));
    CHECK_FALSE(std::filesystem::exists(path / "model"));
  };
  refused("--data @train.conll --out @model", "--dev");
  refused("--text @train.conll --dev @dev.conll", "--text is told labels by a trained model, and goes with --model alone. FIX:");
  refused("--dev @dev.conll", "lacks classifier.weight. FIX: a folder that was trained for labels of words");
  write("four.conll", tagged(0, 16) + "the\tB-Y\n");
  refused("--data @four.conll --dev @dev.conll --out @model", "four.conll has 4 labels ('B-X', 'B-Y', 'I-X', 'O'), the program was compiled for 3. FIX: tx_add_bert(... HEADS token=4)");
  write("few.conll", tagged(0, 4));
  refused("--data @few.conll --dev @dev.conll --out @model", "few.conll has 4 texts, a step takes 8");
  refused("--data @train.conll --dev @four.conll --out @model", "four.conll:");
  std::string longer;
  for (int i = 0; i < 40; ++i) longer += "the\tO\n";
  write("long.conll", longer);
  refused("--data @train.conll --dev @long.conll --out @model", "long.conll:29: the word has no token among the text's first 30. FIX:");
}
