// Vectors that learn from pairs, as from a shell.
#include "run.hpp"

#include <tx/io/sentence_modules.hpp>

#include <nlohmann/json.hpp>

namespace {

struct contrast_test : bert_test {
  contrast_test() {
    write("pairs.tsv", pairs(0, 48));
    write("others.tsv", pairs(48, 16));
  }
  // A text and its words the other way round.
  static std::string pairs(int first, int count) {
    static char const* const words[] = {"the", "tokens", "texts", "pairing", "numbers", "few", "words", "learning"};
    std::string text;
    for (int i = first; i < first + count; ++i) {
      char const *const a = words[i % 8], *const b = words[i / 8 % 8];
      text += std::string(a) + ' ' + b + " too\tcount " + b + ' ' + a + '\n';
    }
    return text;
  }
  static double rank_of(ran const& r, std::string const& text) {
    std::size_t const at = text.find("MRR ");
    INFO(r.error);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + 4));
  }
};

}  // namespace

TEST_CASE_METHOD(contrast_test, "vectors of texts that belong together come together", "[contrast]") {
  ran const train = (*this)("contrast --model @folder --data @pairs.tsv --dev @others.tsv --out @model --rate 0.003 --epochs 40 --dropout 0 --threads 1");
  INFO(train.error);
  REQUIRE(train.code == 0);
  double const before = rank_of(train, train.error.substr(train.error.find("at first: "))), after = rank_of(train, train.out);
  CHECK(after > before);
  CHECK_THAT(train.out, Catch::StartsWith("accuracy@1 ") && Catch::Contains(" over 16 pairs, of step "));
  CHECK_THAT(read("model/metrics.jsonl"), Catch::Contains("\"dev_mrr\":"));
  CHECK(nlohmann::json::parse(read("model/config.json")).at("architectures") == nlohmann::json{"BertModel"});

  // A folder that embed and sentence-transformers read: what the first one said of vectors goes on.
  auto const said = tx::io::sentence_modules::of(path / "model");
  CHECK_FALSE(said.first_token);
  CHECK(said.normalize == tx::io::sentence_modules::of(path / "folder").normalize);
  CHECK(said.longest == 12);
  write("texts", "the few too\ncount few the\n");
  ran const vectors = (*this)("embed --model @model --text @texts");
  INFO(vectors.error);
  REQUIRE(vectors.code == 0);
  CHECK(vectors.lines().size() == 2);
}

TEST_CASE_METHOD(contrast_test, "what contrast refuses", "[contrast]") {
  auto const refused = [&](std::string const& data, std::string const& message) {
    ran const r = (*this)("contrast --model @folder --data " + data + " --dev @others.tsv --out @model --steps 1 --threads 1");
    INFO(r.error);
    CHECK(r.code == 1);
    CHECK_THAT(r.error, Catch::Contains(message));
    CHECK_FALSE(std::filesystem::exists(path / "model"));
  };
  write("alone.tsv", "the few\n");
  refused("@alone.tsv", "alone.tsv:1: one text where two belong. FIX:");
  write("few.tsv", pairs(0, 4));
  refused("@few.tsv", "few.tsv has 4 pairs, a step takes 8");
  auto const pooling = read("folder/1_Pooling/config.json");
  write("folder/1_Pooling/config.json", R"({"pooling_mode_cls_token": true})");
  refused("@pairs.tsv", "takes first tokens for vectors, the program means. FIX: tx_add_bert(... HEADS contrast=cls)");
}
