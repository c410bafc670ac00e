// Weights of another task into a model with a head of its own, and a folder that is saved.
#include "named_tensor.hpp"
#include "system_calls.hpp"
#include "temp_folder.hpp"

#include <tx/io/pretrained.hpp>
#include <tx/io/save_model_folder.hpp>
#include <tx/io/sentence_modules.hpp>

#include <catch2/catch.hpp>

namespace {

struct file_of : temp_folder {
  file_of() { tx::io::write_file_atomic(*this / "config.json", R"({"model_type": "bert", "hidden_size": 2, "_name_or_path": "x", "torch_dtype": "float16"})"); }
  tx::io::model_folder open() const { return tx::io::model_folder::open(path); }
  void hold(std::vector<std::pair<std::string, std::vector<std::int64_t>>> const& tensors, float value = 1) {
    std::vector<float> numbers(64, value);
    std::vector<named_tensor<float>> all;
    for (auto const& [name, shape] : tensors) {
      std::size_t count = 1;
      for (auto const n : shape) count *= static_cast<std::size_t>(n);
      all.push_back({name, shape, std::span(numbers).first(count)});
    }
    tx::io::save_parameters(*this / "model.safetensors", all);
  }
};

// An encoder of two tensors and a pooler, and a head; all 7 before anything is loaded.
struct classifier {
  std::vector<float> words = std::vector<float>(4, 7.f), layer = words, pooler = words, head = words;
  std::vector<named_tensor<float>> tensors() {
    return {{"bert.embeddings.word.weight", {2, 2}, words}, {"bert.encoder.layer.0.weight", {2, 2}, layer}, {"bert.pooler.dense.weight", {2, 2}, pooler}, {"classifier.weight", {2, 2}, head}};
  }
};
std::vector<float> const ones(4, 1.f), sevens(4, 7.f);

}  // namespace

TEST_CASE("an encoder alone goes into a model with a head", "[pretrained]") {
  file_of folder;
  classifier m;
  folder.hold({{"embeddings.word.weight", {2, 2}}, {"encoder.layer.0.weight", {2, 2}}, {"pooler.dense.weight", {2, 2}}});
  auto const report = tx::io::load_pretrained(folder.open(), m.tensors(), "bert");
  CHECK(report.fresh == std::vector<std::string>{"classifier.weight"});
  CHECK(report.unused.empty());
  CHECK((m.words == ones && m.layer == ones && m.pooler == ones && m.head == sevens));
}

TEST_CASE("what a file has for another task is passed over", "[pretrained]") {
  file_of folder;
  classifier m;
  folder.hold({{"bert.embeddings.word.weight", {2, 2}}, {"bert.encoder.layer.0.weight", {2, 2}}, {"cls.predictions.bias", {2}}});
  auto const report = tx::io::load_pretrained(folder.open(), m.tensors(), "bert");
  CHECK(report.fresh == std::vector<std::string>{"bert.pooler.dense.weight", "classifier.weight"});
  CHECK(report.unused == std::vector<std::string>{"cls.predictions.bias"});
  CHECK((m.words == ones && m.pooler == sevens && m.head == sevens));
}

TEST_CASE("a head of the same name is read, of another shape refused", "[pretrained]") {
  file_of folder;
  classifier m;
  folder.hold({{"bert.embeddings.word.weight", {2, 2}}, {"bert.encoder.layer.0.weight", {2, 2}}, {"bert.pooler.dense.weight", {2, 2}}, {"classifier.weight", {2, 2}}});
  CHECK(tx::io::load_pretrained(folder.open(), m.tensors(), "bert").fresh.empty());
  CHECK(m.head == ones);
  classifier other;
  folder.hold({{"bert.embeddings.word.weight", {2, 2}}, {"bert.encoder.layer.0.weight", {2, 2}}, {"bert.pooler.dense.weight", {2, 2}}, {"classifier.weight", {3, 2}}});
  CHECK_THROWS_WITH(tx::io::load_pretrained(folder.open(), other.tensors(), "bert"), Catch::Contains("tensor classifier.weight is f32[3, 2]; the model was compiled for f32[2, 2]"));
  CHECK(other.words == sevens);
}

TEST_CASE("an encoder must be whole, and no larger", "[pretrained]") {
  file_of folder;
  classifier m;
  folder.hold({{"embeddings.word.weight", {2, 2}}});
  CHECK_THROWS_WITH(tx::io::load_pretrained(folder.open(), m.tensors(), "bert"), Catch::Contains("lacks the tensor bert.encoder.layer.0.weight"));
  folder.hold({{"embeddings.word.weight", {2, 2}}, {"encoder.layer.0.weight", {2, 2}}, {"encoder.layer.1.weight", {2, 2}}});
  CHECK_THROWS_WITH(tx::io::load_pretrained(folder.open(), m.tensors(), "bert"), Catch::Contains("has the tensor encoder.layer.1.weight, which the model lacks"));
  folder.hold({{"bert.embeddings.word.weight", {2, 2}}, {"bert.encoder.layer.0.weight", {2, 2}}, {"bert.encoder.layer.1.weight", {2, 2}}});
  CHECK_THROWS_WITH(tx::io::load_pretrained(folder.open(), m.tensors(), "bert"), Catch::Contains("has the tensor bert.encoder.layer.1.weight, which the model lacks"));
  folder.hold({{"embeddings.word.weight", {2, 2}}, {"encoder.layer.0.weight", {2, 2}}}, NAN);
  CHECK_THROWS_WITH(tx::io::load_pretrained(folder.open(), m.tensors(), "bert"), Catch::Contains("holds a NaN or an infinity"));
  CHECK((m.words == sevens && m.layer == sevens));
}

TEST_CASE("a name in a file is no pattern, and what is passed over is named where something is missing", "[pretrained]") {
  file_of folder;
  classifier m;
  folder.hold({{"*", {2}}, {"embeddings.word.weight", {2, 2}}, {"encoder.layer.0.weight", {2, 2}}, {"encoder.layer.1.weight", {2, 2}}});
  CHECK_THROWS_WITH(tx::io::load_pretrained(folder.open(), m.tensors(), "bert"), Catch::Contains("has the tensor encoder.layer.1.weight, which the model lacks"));
  folder.hold({{"embeddings.word.weight", {2, 2}}, {"coder.layer.0.weight", {2, 2}}});
  CHECK_THROWS_WITH(tx::io::load_pretrained(folder.open(), m.tensors(), "bert"), Catch::Contains("lacks the tensor bert.encoder.layer.0.weight; of other names it has 'coder.layer.0.weight'"));
  CHECK((m.words == sevens && m.layer == sevens));
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> many{{"embeddings.word.weight", {2, 2}}, {"encoder.layer.0.weight", {2, 2}}};
  for (int i = 0; i < 20000; ++i) many.push_back({"x" + std::to_string(i), {0}});
  folder.hold(many);  // in moments, not in minutes
  CHECK(tx::io::load_pretrained(folder.open(), m.tensors(), "bert").unused.size() == 20000);
  CHECK((m.words == ones && m.layer == ones));
}

TEST_CASE("a saved folder has the tokenizer's files and a changed configuration", "[pretrained]") {
  file_of folder;
  temp_folder out;
  classifier m;
  tx::io::write_file_atomic(folder / "vocab.txt", "[PAD]\n");
  tx::io::write_file_atomic(folder / "notes.md", "not a tokenizer's\n");
  tx::io::save_model_folder(out / "model", m.tensors(), folder.open(), {{"architectures", {"BertForSequenceClassification"}}, {"hidden_size", nullptr}});
  auto const saved = tx::io::model_folder::open(out / "model");
  CHECK(saved.config() == nlohmann::json{{"model_type", "bert"}, {"architectures", {"BertForSequenceClassification"}}, {"torch_dtype", "float32"}});
  CHECK(tx::io::read_text(out / "model/vocab.txt") == "[PAD]\n");
  CHECK_FALSE(saved.has("notes.md"));
  classifier other;
  for (auto& x : other.words) x = 0;
  tx::io::load_parameters(out / "model", other.tensors());
  CHECK(other.words == sevens);
  // In place: the tokenizer's files are there already.
  tx::io::save_model_folder(out / "model", m.tensors(), saved, {});
  CHECK(tx::io::read_text(out / "model/vocab.txt") == "[PAD]\n");
}

TEST_CASE("a folder that is written over has a configuration only while it is whole, and no tokenizer but the new one", "[pretrained]") {
  file_of folder, other;
  temp_folder out;
  classifier m;
  tx::io::write_file_atomic(folder / "vocab.txt", "[PAD]\n");
  tx::io::write_file_atomic(folder / "tokenizer.json", "{}");
  tx::io::write_file_atomic(other / "vocab.txt", "[UNK]\n");
  auto const save = [&](file_of const& from, nlohmann::json const& changes) { tx::io::save_model_folder(out / "model", m.tensors(), from.open(), changes); };
  save(folder, {});
  bool reached = false, had_configuration = true;
  auto const fail_at_weights = [&](std::string const& call, bool done) {
    if (done || !call.starts_with("rename") || call.find("model.safetensors") == std::string::npos) return 0;
    reached = true;
    had_configuration = std::filesystem::exists(out / "model/config.json");
    return EIO;
  };
  {
    watched_calls const watch(fail_at_weights);
    CHECK_THROWS_AS(save(folder, {}), tx::io_error);  // the same but for its weights, which the folder has or has not
    CHECK(reached);
    CHECK(had_configuration);
    CHECK_THROWS_AS(save(folder, {{"num_labels", 3}}), tx::io_error);
    CHECK_FALSE(had_configuration);
  }
  save(folder, {});
  {
    watched_calls const watch(fail_at_weights);
    CHECK_THROWS_AS(save(other, {}), tx::io_error);
    CHECK_FALSE(had_configuration);
  }
  save(other, {});
  CHECK(tx::io::read_text(out / "model/vocab.txt") == "[UNK]\n");
  CHECK_FALSE(std::filesystem::exists(out / "model/tokenizer.json"));
}

TEST_CASE("what a folder of sentence-transformers says", "[pretrained]") {
  temp_folder folder;
  auto const modules = [&](std::string const& last) {
    tx::io::write_file_atomic(folder / "modules.json", R"([{"path": "", "type": "sentence_transformers.models.Transformer"}, {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"})" + last + "]");
  };
  auto const pooling = [&](std::string const& config) {
    std::filesystem::create_directories(folder / "1_Pooling");
    tx::io::write_file_atomic(folder / "1_Pooling/config.json", config);
  };
  auto const of = [&] { return tx::io::sentence_modules::of(folder.path); };
  CHECK((!of().first_token && !of().normalize && of().longest == 0));
  modules(R"(, {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"})");
  pooling(R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false})");
  CHECK((!of().first_token && of().normalize));
  modules("");
  pooling(R"({"pooling_mode_mean_tokens": false, "pooling_mode_cls_token": true})");
  tx::io::write_file_atomic(folder / "sentence_bert_config.json", R"({"max_seq_length": 128})");
  CHECK((of().first_token && !of().normalize && of().longest == 128));
  pooling(R"({"pooling_mode": "mean"})");
  CHECK_FALSE(of().first_token);
  pooling(R"({"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true})");
  CHECK_THROWS_WITH(of(), Catch::Contains("a pooling other than mean_tokens or cls_token, or several"));
  modules(R"(, {"path": "2_Dense", "type": "sentence_transformers.models.Dense"})");
  pooling(R"({"pooling_mode_mean_tokens": true})");
  CHECK_THROWS_WITH(of(), Catch::Contains("a module 'sentence_transformers.models.Dense' is not known"));
}

TEST_CASE("what is written of a text's vector is what is read") {
  temp_folder const folder;
  for (bool const first : {false, true})
    for (bool const unit : {false, true}) {
      tx::io::sentence_modules{.first_token = first, .normalize = unit, .longest = 40}.save(folder.path, 24);
      auto const said = tx::io::sentence_modules::of(folder.path);
      CHECK((said.first_token == first && said.normalize == unit && said.longest == 40));
      CHECK(std::filesystem::is_directory(folder / "2_Normalize") == unit);
      std::filesystem::remove_all(folder / "2_Normalize");
    }
  CHECK_THAT(tx::io::read_text(folder / "1_Pooling" / "config.json"), Catch::Contains("\"word_embedding_dimension\": 24"));
}
