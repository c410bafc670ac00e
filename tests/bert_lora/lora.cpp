// finetune of a program with adapters: what it trains and leaves alone, what its folders hold, and rates that fall from layer to layer.
#include "../bert/run.hpp"
#include "model.hpp"

#include "../../examples/bert/engine.hpp"
#include "../../examples/bert/tuned.hpp"

#include <tx/io/adapter_folder.hpp>
#include <tx/io/pretrained.hpp>
#include <tx/io/safetensors.hpp>
#include <tx/nn/sequence_classifier.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>

namespace {

// What tx_add_bert's other words choose.
using network = tx::nn::sequence_classifier<bert::model::family, bert::model::config, 2>;
struct parts : bert::model::tuning {
  static constexpr int rank = 0;
};
struct frozen_part : parts {
  using frozen = tx::names<"bert.embeddings.*">;
};
struct trained_part : parts {
  using trained = tx::names<"classifier.*", "*.bias">;
};
struct with_dropout : bert::model::tuning {
  static constexpr double dropout = 0.25;
};
struct with_pooler : bert::model::tuning {
  using trained = tx::names<"bert.pooler.*">;
};
template <class Tuning>
using as = typename decltype(bert::TX_ON_CHOSEN(detail)::tuned_as<network, tx::names<"classifier.*">, Tuning>())::type;
static_assert(std::is_same_v<as<parts>, network>);
static_assert(std::is_same_v<as<frozen_part>, tx::frozen_where<network, "bert.embeddings.*">>);
static_assert(std::is_same_v<as<trained_part>, tx::trained_where<network, "classifier.*", "*.bias">>);
using adapters = tx::nn::with_lora<network, tx::nn::lora_options{.rank = 2, .alpha = 3}, tx::names<"*.layer.*.query", "*.layer.*.value">>;
static_assert(std::is_same_v<as<bert::model::tuning>, tx::trained_where<adapters, "*lora_A.weight", "*lora_B.weight", "classifier.*">>);
using dropping = tx::nn::with_lora<network, tx::nn::lora_options{.rank = 2, .alpha = 3, .dropout = 0.25}, tx::names<"*.layer.*.query", "*.layer.*.value">>;
static_assert(std::is_same_v<as<with_dropout>, tx::trained_where<dropping, "*lora_A.weight", "*lora_B.weight", "classifier.*">>);
static_assert(std::is_same_v<as<with_pooler>, tx::trained_where<adapters, "*lora_A.weight", "*lora_B.weight", "bert.pooler.*">>);

std::vector<float> numbers(tx::io::safetensors const& file, std::string const& name) {
  auto const* t = file.find(name);
  INFO(name);
  REQUIRE(t != nullptr);
  std::vector<float> v(t->bytes.size() / sizeof(float));
  std::memcpy(v.data(), t->bytes.data(), t->bytes.size());
  return v;
}
std::vector<float> numbers(std::vector<bert::named_tensor> const& tensors, std::string const& name) {
  for (auto const& t : tensors)
    if (t.name == name) return {t.data.begin(), t.data.end()};
  FAIL("no tensor " << name);
  return {};
}
double furthest(std::vector<float> const& a, std::vector<float> const& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return most;
}

std::string const query = "bert.encoder.layer.1.attention.self.query", key = "bert.encoder.layer.0.attention.self.key";
tx::io::adapter_description const described{.rank = 2, .alpha = 3, .trained = {"classifier"}};

}  // namespace

TEST_CASE_METHOD(bert_test, "finetune trains adapters and the head, and leaves both folders", "[lora]") {
  ran const train = (*this)("finetune --model @folder --data @train.tsv --dev @dev.tsv --out @model --rate 0.02 --epochs 20 --dropout 0 --threads 1");
  INFO(train.error);
  REQUIRE(train.code == 0);
  CHECK_THAT(train.error, Catch::Contains("fresh: classifier.weight") && !Catch::Contains("lora"));
  double accuracy = 0;
  REQUIRE(std::sscanf(train.out.c_str(), "accuracy %lf", &accuracy) == 1);
  CHECK(accuracy > 0.9);

  // PEFT's folder: adapters beside query and value of both layers, and the head.
  auto const config = nlohmann::json::parse(read("model/adapter/adapter_config.json"));
  CHECK(config.at("peft_type") == "LORA");
  CHECK(config.at("task_type") == "SEQ_CLS");
  CHECK(config.at("r") == 2);
  CHECK(config.at("lora_alpha") == 3.0);
  CHECK(config.at("target_modules") == nlohmann::json{"query", "value"});
  CHECK(config.at("modules_to_save") == nlohmann::json{"classifier"});
  CHECK(config.at("base_model_name_or_path") == at("folder"));
  auto const adapter = tx::io::safetensors::read(path / "model/adapter/adapter_model.safetensors");
  CHECK(adapter.tensors().size() == 2 * 2 * 2 + 2);
  for (int const layer : {0, 1})
    for (std::string const name : {"query", "value"}) {
      std::string const module = "base_model.model.bert.encoder.layer." + std::to_string(layer) + ".attention.self." + name;
      auto const *a = adapter.find(module + ".lora_A.weight"), *b = adapter.find(module + ".lora_B.weight");
      REQUIRE((a != nullptr && b != nullptr));
      CHECK(a->shape == std::vector<std::int64_t>{2, 16});
      CHECK(b->shape == std::vector<std::int64_t>{16, 2});
    }
  CHECK(adapter.find("base_model.model.classifier.weight") != nullptr);

  // The whole folder: no adapters, and bit by bit what it was where there were none.
  auto const before = tx::io::safetensors::read(path / "folder/model.safetensors"), after = tx::io::safetensors::read(path / "model/model.safetensors");
  CHECK(after.tensors().size() == 5 + 2 * 16 + 2 + 2);
  std::string const prefix = before.find("bert.pooler.dense.weight") != nullptr ? "" : "bert.";
  int same = 0, merged = 0;
  for (auto const& t : after.tensors()) {
    INFO(t.name);
    CHECK_FALSE(tx::io::detail::is_adapter(t.name));
    if (t.name.starts_with("classifier.")) continue;
    auto const was = numbers(before, prefix.empty() ? t.name : t.name.substr(prefix.size())), is = numbers(after, t.name);
    bool const adapted = t.name.ends_with("query.weight") || t.name.ends_with("value.weight");
    CHECK((was == is) != adapted);
    ++(adapted ? merged : same);
  }
  CHECK(merged == 4);
  CHECK(same == 5 + 2 * 14 + 2);

  // The base and its adapters say what the merged folder says, to rounding.
  std::vector<std::int32_t> const ids{2, 50, 51, 3}, others{2, 60, 3}, types(4, 0);
  std::vector<bert::coded_text> const texts{{ids, types}, {others, std::span(types).first(3)}};
  auto const beside = bert::make_classifier({5, 1}, false), whole = bert::make_classifier({6, 1}, false), alone = bert::make_classifier({7, 1}, false);
  tx::io::load_pretrained(tx::io::model_folder::open(path / "folder"), tx::io::base_parameters(beside->held().tensors), "bert");
  tx::io::load_adapter(path / "model/adapter", beside->held().tensors, described);
  CHECK(tx::io::load_pretrained(tx::io::model_folder::open(path / "model"), tx::io::base_parameters(whole->held().tensors), "bert").fresh.empty());
  CHECK(furthest(beside->logits(texts), whole->logits(texts)) < 1e-5);
  tx::io::load_pretrained(tx::io::model_folder::open(path / "folder"), tx::io::base_parameters(alone->held().tensors), "bert");
  for (auto const& t : alone->held().tensors)
    if (t.name.starts_with("classifier.")) std::ranges::copy(numbers(after, t.name), t.data.begin());
  CHECK(furthest(alone->logits(texts), whole->logits(texts)) > 1e-2);  // what the adapters are for

  ran const eval = (*this)("eval --model @model --data @dev.tsv");
  INFO(eval.error);
  REQUIRE(eval.code == 0);
  double told = 0;
  REQUIRE(std::sscanf(eval.out.c_str(), "accuracy %lf", &told) == 1);
  CHECK(told == accuracy);
}

TEST_CASE_METHOD(bert_test, "finetune begins with a folder of adapters", "[lora]") {
  std::string const command = "finetune --model @folder --data @train.tsv --dev @dev.tsv --dropout 0 --threads 1 --validations 1 --steps ";
  ran const first = (*this)(command + "200 --rate 0.02 --out @model");
  INFO(first.error);
  REQUIRE(first.code == 0);
  ran const again = (*this)(command + "1 --rate 0 --adapter @model/adapter --out @again");
  INFO(again.error);
  REQUIRE(again.code == 0);
  CHECK_THAT(again.error, !Catch::Contains("fresh"));
  for (char const* const name : {"model.safetensors", "adapter/adapter_model.safetensors", "adapter/adapter_config.json"}) CHECK(read("again/" + std::string(name)) == read("model/" + std::string(name)));
  REQUIRE((*this)(command + "1 --rate 0 --out @anew").code == 0);
  CHECK(read("anew/adapter/adapter_model.safetensors") != read("model/adapter/adapter_model.safetensors"));

  auto config = nlohmann::json::parse(read("model/adapter/adapter_config.json"));
  config["r"] = 4;
  write("model/adapter/adapter_config.json", config.dump());
  ran const other = (*this)(command + "1 --rate 0 --adapter @model/adapter --out @other");
  CHECK(other.code == 1);
  CHECK_THAT(other.error, Catch::Contains("r is 4, and 2 in the program. FIX: "));
  CHECK_FALSE(std::filesystem::exists(path / "other/model.safetensors"));
}

TEST_CASE_METHOD(bert_test, "steps leave what adapters stand beside bit by bit as it was", "[lora]") {
  auto const run = bert::make_classifier({1, 1}, true);
  tx::io::load_pretrained(tx::io::model_folder::open(path / "folder"), tx::io::base_parameters(run->held().tensors), "bert");
  std::map<std::string, std::vector<float>> before;
  for (auto const& t : run->held().tensors) before[t.name] = {t.data.begin(), t.data.end()};
  std::vector<std::int32_t> const ids{2, 50, 51, 3}, types(4, 0);
  std::vector<bert::coded_text> const texts(8, {ids, types});
  for (int i = 0; i < 3; ++i) CHECK(std::isfinite(run->train(texts, std::vector<float>(8, 1), {.rate = 0.01})));
  std::set<std::string> trained;
  for (auto const& t : run->held(1).tensors) trained.insert(t.name);
  CHECK(trained.size() == 2 * 2 * 2 + 2);
  for (auto const& t : run->held().tensors) {
    INFO(t.name);
    CHECK((before[t.name] == numbers(run->held().tensors, t.name)) != trained.contains(t.name));
  }
}

TEST_CASE_METHOD(bert_test, "a layer's adapters take --layer-decay times the rate of those above", "[lora]") {
  auto const moved = [&](double decay) {
    auto const run = bert::make_classifier({1, 1}, true);
    tx::io::load_pretrained(tx::io::model_folder::open(path / "folder"), tx::io::base_parameters(run->held().tensors), "bert");
    std::vector<std::int32_t> const ids{2, 50, 51, 3}, types(4, 0);
    for (int step = 0; step < 2; ++step)  // an update
      run->train(std::vector<bert::coded_text>(8, {ids, types}), std::vector<float>(8, 1), {.rate = 0.01, .decay = 0, .dropout = 0, .layer_decay = decay});
    // B begins with zeros, and Lion's steps are as long as the rate.
    auto const most = [&](std::string const& name) {
      auto const v = numbers(run->held().tensors, name);
      return furthest(v, std::vector<float>(v.size()));
    };
    return std::pair{most("bert.encoder.layer.0.attention.self.value.lora_B.weight"), most("bert.encoder.layer.1.attention.self.value.lora_B.weight")};
  };
  auto const [lower, upper] = moved(0.5);
  CHECK(lower == Approx(0.0025).epsilon(0.01));
  CHECK(upper == Approx(0.005).epsilon(0.01));
  auto const [same, as_well] = moved(1);
  CHECK(same == Approx(0.01).epsilon(0.01));
  CHECK(as_well == Approx(0.01).epsilon(0.01));
}

TEST_CASE_METHOD(bert_test, "adapters are saved and resumed with the run", "[lora]") {
  std::string const command = "finetune --model @folder --data @train.tsv --dev @dev.tsv --rate 0.02 --layer-decay 0.8 --steps 300 --validations 4 --out ";
  ran const whole = (*this)(command + "@whole --threads 1");
  INFO(whole.error);
  REQUIRE(whole.code == 0);
  int const code = signalled(command + "@cut --save-every 20", SIGTERM, [&] { return saved(); });
  REQUIRE((is_done(code, SIGTERM) || code == 128 + SIGTERM));
  if (!is_done(code, SIGTERM)) {
    std::string other = command;
    other.replace(other.find("0.8"), 3, "0.7");
    ran const refused = (*this)(other + "@cut --resume --threads 1");
    CHECK(refused.code == 1);
    CHECK_THAT(refused.error, Catch::Contains("--layer-decay is not what the saved run had"));
    REQUIRE((*this)(command + "@cut --resume --threads 1").code == 0);
  }
  for (char const* const name : {"model.safetensors", "adapter/adapter_model.safetensors"}) CHECK(read("cut/" + std::string(name)) == read("whole/" + std::string(name)));
}

TEST_CASE_METHOD(bert_test, "the help tells what is trained, and a head that would stay fresh is refused", "[lora]") {
  ran const help = (*this)("finetune --help");
  CHECK_THAT(help.out, Catch::Contains("This program trains adapters of rank 2, alpha 3, beside *.layer.*.query, *.layer.*.value, and the head; --layer-decay; an update every 2 steps; by lion; judged and saved is a moving average of decay 0.75."));

  // A folder without a pooler, which neither adapters nor the head are.
  auto const files = tx::io::safetensors::read(path / "folder/model.safetensors");
  std::vector<tx::io::tensor_info> kept;
  for (auto const& t : files.tensors())
    if (t.name.find("pooler.") == t.name.npos) kept.push_back(t);
  REQUIRE(kept.size() < files.tensors().size());
  tx::io::write_safetensors(path / "fewer.safetensors", kept, {});
  std::filesystem::rename(path / "fewer.safetensors", path / "folder/model.safetensors");
  ran const refused = finetune();
  CHECK(refused.code == 1);
  CHECK_THAT(refused.error, Catch::Contains("lacks bert.pooler.dense.") && Catch::Contains("and this program does not train it. FIX: "));
}

TEST_CASE_METHOD(bert_test, "what is judged and kept is the moving average of what is trained", "[lora]") {
  auto const run = bert::make_classifier({1, 1}, true);
  tx::io::load_pretrained(tx::io::model_folder::open(path / "folder"), tx::io::base_parameters(run->held().tensors), "bert");
  std::vector<std::int32_t> const ids{2, 50, 51, 3}, types(4, 0);
  std::vector<bert::coded_text> const texts(8, {ids, types});
  auto const step = [&] { run->train(texts, std::vector<float>(8, 1), {.rate = 0.01, .decay = 0, .dropout = 0}); };
  auto const all = [](std::vector<bert::named_tensor> const& tensors) {
    std::vector<float> values;
    for (auto const& t : tensors) values.insert(values.end(), t.data.begin(), t.data.end());
    return values;
  };
  step();
  CHECK(all(run->held_kept().tensors) == all(run->held().tensors));  // there was no update

  std::vector<double> average;
  for (int update = 0; update < 4; ++update) {
    step();  // the second of its two
    auto const now = all(run->held().tensors);
    if (update == 0) average.assign(now.begin(), now.end());
    for (std::size_t i = 0; i < now.size(); ++i) average[i] += 0.25 * (static_cast<double>(now[i]) - average[i]);
    auto const kept = all(run->held_kept().tensors);
    REQUIRE(kept.size() == now.size());
    double furthest_off = 0, furthest_from_now = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      furthest_off = std::max(furthest_off, std::abs(static_cast<double>(kept[i]) - average[i]));
      furthest_from_now = std::max(furthest_from_now, static_cast<double>(std::abs(kept[i] - now[i])));
    }
    CHECK(furthest_off < 1e-6);
    CHECK((furthest_from_now > 1e-3) == (update > 0));
    step();
  }
  auto const averaged = run->logits(texts);
  auto const best = run->kept();
  run->keep(best);  // as the loop does with the best state: from now on both are the average
  CHECK(run->logits(texts) == averaged);
  CHECK(all(run->held_kept().tensors) == all(run->held().tensors));
}

TEST_CASE_METHOD(bert_test, "an update takes as many steps as the program accumulates", "[lora]") {
  auto const run = bert::make_classifier({1, 1}, true);
  tx::io::load_pretrained(tx::io::model_folder::open(path / "folder"), tx::io::base_parameters(run->held().tensors), "bert");
  std::vector<std::int32_t> const ids{2, 50, 51, 3}, types(4, 0);
  auto const loss = [&] { return run->train(std::vector<bert::coded_text>(8, {ids, types}), std::vector<float>(8, 1), {.rate = 0.01, .decay = 0, .dropout = 0, .layer_decay = 1}); };
  float const first = loss();
  CHECK(loss() == first);  // nothing has changed but the sum
  float const third = loss();
  CHECK(third < first);
  CHECK(loss() == third);
  CHECK(loss() < third);

  std::string const command = "finetune --model @folder --data @train.tsv --dev @dev.tsv --dropout 0 --threads 1 --validations 1 --out @model --steps 3";
  ran const unsaid = (*this)(command);
  CHECK(unsaid.code == 1);
  CHECK_THAT(unsaid.error, Catch::Contains("--rate is missing: this program trains by lion, whose rates are not those of the recipe. FIX: --rate R"));
  ran const train = (*this)(command + " --rate 0.001");
  INFO(train.error);
  REQUIRE(train.code == 0);
  CHECK_THAT(train.out, Catch::Contains("4 steps in"));  // two whole updates
}
