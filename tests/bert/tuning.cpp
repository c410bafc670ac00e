// What of a model finetune trains, as tx_add_bert was told: here all but the table of positions, at rates that fall from layer to layer.
#include "run.hpp"

#include "../../examples/bert/tuning.hpp"

#include <tx/io/pretrained.hpp>

#include <cmath>
#include <map>

namespace {

std::string const positions = "bert.embeddings.position_embeddings.weight";

// How far each tensor has moved at most after a step of Adam, which is as long as the rate, 0.01.
std::map<std::string, double> moved(bert::trained_run& run, auto&& step) {
  std::map<std::string, std::vector<float>> before;
  for (auto const& t : run.held().tensors) before[t.name] = {t.data.begin(), t.data.end()};
  step();
  std::map<std::string, double> most;
  for (auto const& t : run.held().tensors)
    for (std::size_t i = 0; i < t.data.size(); ++i) most[t.name] = std::max(most[t.name], std::abs(static_cast<double>(t.data[i]) - static_cast<double>(before[t.name][i])));
  return most;
}

}  // namespace

TEST_CASE_METHOD(bert_test, "what is frozen stays bit by bit, and each layer has its share of the rate", "[tuning]") {
  std::vector<std::int32_t> const ids{2, 50, 51, 3}, types(4, 0);
  std::vector<bert::coded_text> const texts(8, {ids, types});
  auto const of = [&](double decay) {
    auto const run = bert::make_classifier({1, 1}, true);
    tx::io::load_pretrained(tx::io::model_folder::open(path / "folder"), run->held().tensors, "bert");
    return moved(*run, [&] { run->train(texts, std::vector<float>(8, 1), {.rate = 0.01, .decay = 0, .dropout = 0, .layer_decay = decay}); });
  };
  auto const falling = of(0.5), even = of(1);
  CHECK(falling.at(positions) == 0);
  CHECK(falling.at("classifier.weight") == Approx(0.01).epsilon(0.01));
  CHECK(falling.at("bert.pooler.dense.weight") == Approx(0.01).epsilon(0.01));
  CHECK(falling.at("bert.encoder.layer.1.output.dense.weight") == Approx(0.005).epsilon(0.01));
  CHECK(falling.at("bert.encoder.layer.0.output.dense.weight") == Approx(0.0025).epsilon(0.01));
  CHECK(falling.at("bert.embeddings.word_embeddings.weight") == Approx(0.00125).epsilon(0.01));
  for (auto const& [name, far] : even) {
    INFO(name);
    if (name == positions) CHECK(far == 0);
    else if (name.ends_with("weight")) CHECK(far == Approx(0.01).epsilon(0.02));
  }

  auto const names = [](auto const& tensors) {
    std::set<std::string> out;
    for (auto const& t : tensors) out.insert(t.name);
    return out;
  };
  auto const run = bert::make_classifier({1, 1}, true);
  auto trained = names(run->held(1).tensors);  // what has states of the optimizer
  CHECK(trained.insert(positions).second);
  CHECK(trained == names(run->held().tensors));
}

TEST_CASE_METHOD(bert_test, "a falling rate, --layer-decay, changes what is learned, and is refused by programs without it", "[tuning]") {
  std::string const command = "finetune --model @folder --data @train.tsv --dev @dev.tsv --steps 3 --threads 1 --out ";
  REQUIRE((*this)(command + "@plain").code == 0);
  REQUIRE((*this)(command + "@one --layer-decay 1").code == 0);
  REQUIRE((*this)(command + "@half --layer-decay 0.5").code == 0);
  CHECK(read("one/model.safetensors") == read("plain/model.safetensors"));
  CHECK(read("half/model.safetensors") != read("plain/model.safetensors"));
  CHECK_THAT((*this)(command + "@none --layer-decay 0").error, Catch::Contains("--layer-decay"));
  CHECK_THAT((*this)("distil --layer-decay 0.5").error, Catch::Contains("--layer-decay"));

  std::vector<std::string> const words{"--layer-decay", "0.5"};
  auto const known = bert::with_tuning_options({});
  CHECK_NOTHROW(bert::check_tuning_options({words, known}));
  CHECK_THROWS_WITH(bert::check_tuning_options({words, known}, {}), "--layer-decay: all layers of this program have one rate. FIX: tx_add_bert(... LAYER_DECAY)");
  ran const refused = (*this)(command + "@adapted --adapter @plain");
  CHECK(refused.code == 1);
  CHECK_THAT(refused.error, Catch::Contains("--adapter: this program has no adapters. FIX: tx_add_bert(... LORA 8 16)"));
}

TEST_CASE_METHOD(bert_test, "the help tells what the program trains", "[tuning]") {
  for (char const* const command : {"finetune", "tag", "answer", "contrast"}) {
    ran const help = (*this)(std::string(command) + " --help");
    INFO(command);
    CHECK_THAT(help.out, Catch::Contains("This program trains all but bert.embeddings.position_embeddings.*; --layer-decay.\n"));
  }
  using training = bert::description::training;
  CHECK(training{0, 1, 0, {}, {}, {}, false}.text() == "all");
  CHECK(training{0, 1, 0, {}, {}, {}, false, 4, 0, "lion"}.text() == "all; an update every 4 steps; by lion");
  CHECK(training{0, 1, 0, {}, {}, {}, false, 1, 0.99, ""}.text() == "all; judged and saved is a moving average of decay 0.99");
  CHECK(training{0, 1, 0, {}, {"classifier.*", "*.bias"}, {}, false}.text() == "classifier.*, *.bias alone");
  CHECK(training{8, 0.5, 0, {"*.query"}, {"bert.pooler.*"}, {}, true}.text() == "adapters of rank 8, alpha 0.5, beside *.query, and bert.pooler.*; --layer-decay");
  CHECK(training{8, 16, 0.1, {"*.query"}, {}, {}, false}.text() == "adapters of rank 8, alpha 16, dropout 0.1, beside *.query, and the head");
}
