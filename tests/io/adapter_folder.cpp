// Adapters in PEFT's folders: what is written is what PEFT writes, what is read is refused where the program is of other adapters.
#include "named_tensor.hpp"
#include "temp_folder.hpp"

#include <tx/io/adapter_folder.hpp>

#include <catch2/catch.hpp>

#include <map>

namespace {

std::string const reference = TX_TEST_DIR "/../parity/data/lora/adapter";

// As the model of that folder has them, a layer of it.
struct model {
  std::map<std::string, std::vector<float>> numbers;
  std::vector<named_tensor<float>> tensors() {
    std::vector<named_tensor<float>> out;
    auto const add = [&](std::string const& name, std::vector<std::int64_t> const& shape) {
      std::size_t count = 1;
      for (auto const n : shape) count *= static_cast<std::size_t>(n);
      auto& own = numbers[name];
      if (own.empty())
        for (std::size_t i = 0; i < count; ++i) own.push_back(static_cast<float>(numbers.size()) + static_cast<float>(i) / 8);
      out.push_back({name, shape, own});
    };
    for (std::string const layer : {"0", "1"})
      for (std::string const part : {"query", "key", "value"}) {
        std::string const name = "bert.encoder.layer." + layer + ".attention.self." + part;
        add(name + ".weight", {8, 8});
        add(name + ".bias", {8});
        if (part == "key") continue;
        add(name + ".lora_A.weight", {2, 8});
        add(name + ".lora_B.weight", {8, 2});
      }
    add("classifier.weight", {2, 8});
    add("classifier.bias", {2});
    return out;
  }
};
tx::io::adapter_description const described{.rank = 2, .alpha = 3, .base = "base", .task = "SEQ_CLS", .trained = {"classifier"}};

std::string refused(std::filesystem::path const& folder, tx::io::adapter_description const& d) {
  model m;
  m.tensors();
  auto const before = m.numbers;
  try {
    tx::io::load_adapter(folder, m.tensors(), d);
  } catch (tx::error const& e) {
    CHECK(m.numbers == before);
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("an adapter's folder is as PEFT writes it", "[adapter_folder]") {
  temp_folder folder;
  model m;
  tx::io::save_adapter(folder.path, m.tensors(), described);
  auto const wanted = tx::io::safetensors::read(reference + "/adapter_model.safetensors"), written = tx::io::safetensors::read(folder / "adapter_model.safetensors");
  REQUIRE(written.tensors().size() == wanted.tensors().size());
  for (auto const& t : wanted.tensors()) {
    INFO(t.name);
    auto const* const own = written.find(t.name);
    REQUIRE(own != nullptr);
    CHECK(own->shape == t.shape);
    CHECK(own->type == t.type);
  }
  auto const theirs = tx::io::read_json(reference + "/adapter_config.json"), ours = tx::io::read_json(folder / "adapter_config.json");
  for (auto const& [name, value] : ours.items()) {
    INFO(name);
    REQUIRE(theirs.contains(name));
    if (name == "base_model_name_or_path") CHECK(value == "base");
    else if (name == "target_modules") CHECK(std::set<std::string>(value.begin(), value.end()) == std::set<std::string>(theirs[name].begin(), theirs[name].end()));
    else if (name == "modules_to_save") CHECK(std::ranges::find(theirs[name], value[0]) != theirs[name].end());  // PEFT adds what heads are called elsewhere
    else CHECK(value == theirs[name]);
  }
}

TEST_CASE("an adapter is read back as it was, and so is PEFT's", "[adapter_folder]") {
  temp_folder folder;
  model m;
  auto tensors = m.tensors();
  auto const before = m.numbers;
  tx::io::save_adapter(folder.path, tensors, described);
  for (auto const& t : tensors)
    for (float& x : t.data) x += 1;
  tx::io::load_adapter(folder.path, tensors, described);
  for (auto const& [name, numbers] : before) {
    INFO(name);
    bool const of_adapter = name.find("lora_") != std::string::npos || name.starts_with("classifier.");
    CHECK((m.numbers[name] == numbers) == of_adapter);
  }
  tx::io::load_adapter(reference, tensors, described);
  CHECK(m.numbers["classifier.bias"] != before.at("classifier.bias"));
}

TEST_CASE("modules of a name that not all have adapters are told by their whole names", "[adapter_folder]") {
  temp_folder folder;
  model m;
  auto tensors = m.tensors();
  std::erase_if(tensors, [](auto const& t) { return t.name.find("layer.1") != std::string::npos && t.name.find("lora_") != std::string::npos; });
  tx::io::save_adapter(folder.path, tensors, described);
  CHECK(tx::io::read_json(folder / "adapter_config.json")["target_modules"] ==
        nlohmann::json({"bert.encoder.layer.0.attention.self.query", "bert.encoder.layer.0.attention.self.value"}));
}

TEST_CASE("what is merged stands in the weights' place, and nothing else changes", "[adapter_folder]") {
  std::vector<float> weight{1, 2, 3, 4, 5, 6}, bias{7, 8}, a{1, 0, -1}, b{2, -3};
  std::vector<named_tensor<float>> const tensors{{"m.weight", {2, 3}, weight}, {"m.bias", {2}, bias}, {"m.lora_A.weight", {1, 3}, a}, {"m.lora_B.weight", {2, 1}, b}};
  auto const merged = tx::io::merged_parameters(tensors, 0.5);
  REQUIRE(merged.size() == 2);
  CHECK(merged[0].name == "m.weight");
  CHECK(merged[0].shape == std::vector<std::int64_t>{2, 3});
  CHECK(merged[0].data == std::vector<float>{2, 2, 2, 2.5f, 5, 7.5f});
  CHECK(merged[1].data == bias);
  CHECK(weight[0] == 1);
}

TEST_CASE("adapters of another kind, rank or scale are refused before anything is read", "[adapter_folder]") {
  auto other = described;
  other.alpha = 4;
  CHECK_THAT(refused(reference, other), Catch::Contains("lora_alpha is 3, and 4") && Catch::Contains("FIX"));
  other = described;
  other.rank = 3;
  CHECK_THAT(refused(reference, other), Catch::Contains("is of rank 2, not 3. FIX"));
  other = described;
  other.trained = {};
  CHECK_THAT(refused(reference, other), Catch::Contains("classifier") && Catch::Contains("FIX"));
  other.trained = {"head"};
  CHECK_THAT(refused(reference, other), Catch::Contains("the model has no module") && Catch::Contains("head") && Catch::Contains("FIX"));

  temp_folder folder;
  model m;
  tx::io::save_adapter(folder.path, m.tensors(), described);
  auto const good = tx::io::read_json(folder / "adapter_config.json");
  auto const with = [&](char const* name, nlohmann::json const& value) {
    auto changed = good;
    changed[name] = value;
    tx::io::write_file_atomic(folder / "adapter_config.json", changed.dump());
    return refused(folder.path, described);
  };
  CHECK_THAT(with("use_dora", true), Catch::Contains("use_dora is true, and false"));
  CHECK_THAT(with("use_rslora", true), Catch::Contains("use_rslora is true, and false"));
  CHECK_THAT(with("peft_type", "IA3"), Catch::Contains("peft_type is"));
  CHECK_THAT(with("rank_pattern", {{"query", 4}}), Catch::Contains("rank_pattern gives layers a rank or an alpha of their own") && Catch::Contains("FIX: "));
  CHECK_THAT(with("bias", "all"), Catch::Contains("bias is"));
  CHECK_THAT(with("r", nullptr), Catch::Contains("r is not given"));
  CHECK(with("use_dora", nullptr).empty());
}

TEST_CASE("parameters without adapters are refused", "[adapter_folder]") {
  temp_folder folder;
  std::vector<float> v(4);
  std::vector<named_tensor<float>> const plain{{"a.weight", {2, 2}, v}};
  CHECK_THROWS_WITH(tx::io::save_adapter(folder.path, plain, {}), Catch::Contains("a model without adapters. FIX"));
  CHECK(folder.entries() == 0);
}
