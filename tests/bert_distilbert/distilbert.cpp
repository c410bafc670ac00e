// The programs of an encoder whose tokens have no types, with a number for a text: a DistilBERT that computes what the small BERT of tests/parity does, as
// it has its weights, and the embedding of the one type that texts have in those of all positions.
#include "../bert/run.hpp"

#include <tx/io/safetensors.hpp>
#include <tx/io/safetensors_writer.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <sstream>

namespace {

struct distilbert_test : bert_test {
  distilbert_test() {
    nlohmann::json const own = {{"model_type", "distilbert"}, {"architectures", {"DistilBertModel"}}, {"n_layers", 2}, {"dim", 16}, {"n_heads", 2}, {"hidden_dim", 24}, {"activation", "gelu"},
                                {"vocab_size", 142}, {"max_position_embeddings", 40}, {"pad_token_id", 0}};
    write("folder/config.json", own.dump());

    auto const from = tx::io::safetensors::read(path / "folder/model.safetensors");
    std::vector<float> positions = numbers(from, "embeddings.position_embeddings.weight"), types = numbers(from, "embeddings.token_type_embeddings.weight");
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] += types[i % 16];
    std::vector<tx::io::tensor_info> all;
    for (tx::io::tensor_info t : from.tensors()) {
      t.name = renamed(t.name);
      if (t.name.empty()) continue;
      if (t.name.ends_with("position_embeddings.weight")) t.bytes = std::as_bytes(std::span(positions));
      all.push_back(t);
    }
    tx::io::write_safetensors(path / "distilled.safetensors", all);
    std::filesystem::rename(path / "distilled.safetensors", path / "folder/model.safetensors");
    write("rated.tsv", rated(0, 96));
    write("unseen.tsv", rated(96, 24));
  }
  static std::vector<float> numbers(tx::io::safetensors const& file, std::string const& name) {
    auto const* t = file.find(name);
    INFO(name);
    REQUIRE(t != nullptr);
    std::vector<float> out(t->bytes.size() / sizeof(float));
    std::memcpy(out.data(), t->bytes.data(), t->bytes.size());
    return out;
  }
  // DistilBERT's name of a tensor of BERT's; empty: it has none like it.
  static std::string renamed(std::string name) {
    auto const put = [&](std::string_view what, std::string_view by) {
      if (auto const at = name.find(what); at != std::string::npos) name.replace(at, what.size(), by);
    };
    if (name.starts_with("pooler.") || name.find("token_type") != std::string::npos) return "";
    put("encoder.layer.", "transformer.layer.");
    put("attention.self.query", "attention.q_lin"), put("attention.self.key", "attention.k_lin"), put("attention.self.value", "attention.v_lin");
    put("attention.output.dense", "attention.out_lin"), put("attention.output.LayerNorm", "sa_layer_norm");
    put("intermediate.dense", "ffn.lin1"), put("output.dense", "ffn.lin2"), put("output.LayerNorm", "output_layer_norm");
    return name;
  }
  // Of each text how often "tokens" stands in it.
  static std::string rated(int first, int count) {
    std::string text;
    for (int i = first; i < first + count; ++i) {
      int const times = i % 3;
      text += std::to_string(times) + "\tcount the few";
      for (int k = 0; k < 3; ++k) text += k < times ? " tokens" : " words";
      text += i % 2 == 0 ? " too\n" : "\n";
    }
    return text;
  }
};

double figure(std::string const& text, char const* name) {
  std::size_t const at = text.find(name);
  INFO(text);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + std::strlen(name)));
}

}  // namespace

TEST_CASE_METHOD(distilbert_test, "vectors of a DistilBERT with BERT's weights are BERT's", "[distilbert]") {
  auto const reference = tx::io::safetensors::read(path / "folder/vectors.safetensors");
  auto const check = [&](std::string const& more, char const* name) {
    ran const r = (*this)("embed --model @folder --text @folder/texts.txt " + more);
    INFO(r.error);
    REQUIRE(r.code == 0);
    auto const wanted = numbers(reference, name);
    auto const lines = r.lines();
    REQUIRE(lines.size() * 16 == wanted.size());
    for (std::size_t t = 0; t < lines.size(); ++t) {
      auto const vector = nlohmann::json::parse(lines[t]).get<std::vector<float>>();
      REQUIRE(vector.size() == 16);
      for (std::size_t i = 0; i < 16; ++i) CHECK(vector[i] == Approx(wanted[t * 16 + i]).margin(2e-6));
    }
  };
  check("", "mean");
  check("--pool cls --normalize no", "first");
}

TEST_CASE_METHOD(distilbert_test, "vectors by products of halves lie near the others", "[distilbert]") {
  auto const vectors = [&](std::string const& more) {
    ran const r = (*this)("embed --model @folder --text @folder/texts.txt" + more);
    INFO(r.error);
    REQUIRE(r.code == 0);
    std::vector<float> all;
    for (std::string const& line : r.lines())
      for (float const x : nlohmann::json::parse(line).get<std::vector<float>>()) all.push_back(x);
    return all;
  };
  auto const exact = vectors(""), rounded = vectors(" --bf16");
  REQUIRE(exact.size() == rounded.size());
  double furthest = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) furthest = std::max(furthest, std::abs(static_cast<double>(exact[i] - rounded[i])));
  CHECK(furthest < 0.03);   // 8 bits of a sum of 16 or 24 products of numbers of about 1, in two layers
  CHECK(furthest > 1e-5);  // they are no products of f32
}

TEST_CASE_METHOD(distilbert_test, "a number for a text: learned, predicted, measured, in a folder that names the problem", "[distilbert]") {
  ran const train = (*this)("finetune --model @folder --data @rated.tsv --dev @unseen.tsv --out @model --rate 0.003 --epochs 40 --dropout 0 --threads 1");
  INFO(train.error);
  REQUIRE(train.code == 0);
  CHECK_THAT(train.error, Catch::Contains("fresh: pre_classifier.weight") && Catch::Contains("fresh: classifier.weight"));
  auto const config = nlohmann::json::parse(read("model/config.json"));
  CHECK(config.at("architectures") == nlohmann::json{"DistilBertForSequenceClassification"});
  CHECK(config.at("problem_type") == "regression");
  auto const weights = tx::io::safetensors::read(path / "model/model.safetensors");
  CHECK(weights.find("distilbert.transformer.layer.1.attention.q_lin.weight") != nullptr);
  CHECK(weights.find("pre_classifier.bias") != nullptr);
  CHECK(weights.find("distilbert.embeddings.token_type_embeddings.weight") == nullptr);

  ran const eval = (*this)("eval --model @model --data @unseen.tsv");
  INFO(eval.error);
  REQUIRE(eval.code == 0);
  CHECK(figure(eval.out, "Pearson ") > 0.95);
  CHECK(figure(eval.out, "Spearman ") > 0.9);

  write("texts", "count the few tokens tokens words\ncount the few words words words too\n");
  ran const predicted = (*this)("predict --model @model --text @texts");
  INFO(predicted.error);
  REQUIRE(predicted.code == 0);
  auto const lines = predicted.lines();
  REQUIRE(lines.size() == 2);
  CHECK(std::abs(std::stod(lines[0]) - 2) < 0.5);
  CHECK(std::abs(std::stod(lines[1])) < 0.5);

  write("wrong.tsv", "many\tcount the few\n");
  ran const refused = (*this)("finetune --model @folder --data @wrong.tsv --dev @unseen.tsv --out @none --threads 1");
  CHECK(refused.code == 1);
  CHECK_THAT(refused.error, Catch::Contains("wrong.tsv:1: ") && Catch::Contains("many"));
}

TEST_CASE_METHOD(distilbert_test, "vectors of first tokens learn from pairs", "[distilbert]") {
  static char const* const words[] = {"the", "tokens", "texts", "pairing", "numbers", "few", "words", "learning"};
  auto const pairs = [&](int first, int count) {
    std::string text;
    for (int i = first; i < first + count; ++i) {
      char const *const a = words[i % 8], *const b = words[i / 8 % 8];
      text += std::string(a) + ' ' + b + " too\tcount " + b + ' ' + a + '\n';
    }
    return text;
  };
  write("pairs.tsv", pairs(0, 48));
  write("others.tsv", pairs(48, 16));
  std::filesystem::remove(path / "folder/modules.json");  // which takes means of tokens
  ran const train = (*this)("contrast --model @folder --data @pairs.tsv --dev @others.tsv --out @model --rate 0.003 --epochs 40 --dropout 0 --threads 1");
  INFO(train.error);
  REQUIRE(train.code == 0);
  CHECK(figure(train.out, "MRR ") > 0.6);
  CHECK(nlohmann::json::parse(read("model/1_Pooling/config.json")).at("pooling_mode_cls_token") == true);
  CHECK((*this)("embed --model @model --text @folder/texts.txt").code == 0);
}

TEST_CASE_METHOD(distilbert_test, "labels of words and answers of a DistilBERT", "[distilbert]") {
  std::string words, questions;
  for (int i = 0; i < 64; ++i) {
    std::string const text = sentence(i);
    std::size_t const at = text.find("count ");
    std::istringstream in(text);
    for (std::string word; in >> word;) words += word + '\t' + (word == "count" ? "B-X" : "O") + '\n';
    words += '\n';
    nlohmann::json answers{{"text", nlohmann::json::array()}, {"answer_start", nlohmann::json::array()}};
    if (at != std::string::npos) answers["text"].push_back("count"), answers["answer_start"].push_back(at);
    questions += nlohmann::json{{"question", "numbers"}, {"context", text}, {"answers", answers}}.dump() + '\n';
  }
  write("words.conll", words);
  write("questions.jsonl", questions);
  std::string const more = " --rate 0.003 --epochs 20 --dropout 0 --threads 1";
  ran const tags = (*this)("tag --model @folder --data @words.conll --dev @words.conll --out @tags" + more);
  INFO(tags.error);
  REQUIRE(tags.code == 0);
  CHECK(figure(tags.out, "accuracy ") > 0.95);
  CHECK(nlohmann::json::parse(read("tags/config.json")).at("architectures") == nlohmann::json{"DistilBertForTokenClassification"});
  ran const answers = (*this)("answer --model @folder --data @questions.jsonl --dev @questions.jsonl --out @answers" + more);
  INFO(answers.error);
  REQUIRE(answers.code == 0);
  CHECK(figure(answers.out, "exact match ") > 0.8);
}
