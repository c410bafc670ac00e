// Weights in several files with an index, and the ways in which an index lies.
#include "named_tensor.hpp"
#include "temp_folder.hpp"

#include <tx/io/parameters.hpp>

#include <catch2/catch.hpp>

namespace {

struct model {
  std::vector<float> a = std::vector<float>(4, 0.f), b = std::vector<float>(2, 0.f);
  std::vector<named_tensor<float>> tensors() { return {{"a", {2, 2}, a}, {"b", {2}, b}}; }
};
void write_index(temp_folder const& folder, std::string const& map) {
  tx::io::write_file_atomic(folder / "model.safetensors.index.json", R"({"metadata": {"total_size": 24}, "weight_map": )" + map + "}");
}
// a in the one file, b in the other.
void write_parts(temp_folder const& folder) {
  model m;
  m.a = {1, 2, 3, 4};
  m.b = {5, 6};
  auto all = m.tensors();
  tx::io::save_parameters(folder / "model-00001-of-00002.safetensors", std::span(all).first(1));
  tx::io::save_parameters(folder / "model-00002-of-00002.safetensors", std::span(all).last(1));
}
void refused(temp_folder const& folder, std::string const& reason) {
  model m;
  CHECK_THROWS_WITH(tx::io::load_parameters(folder.path, m.tensors()), Catch::Contains(reason));
  CHECK(m.a == std::vector<float>(4, 0.f));
}

TEST_CASE("a model in several files", "[tensor_files]") {
  temp_folder folder;
  write_parts(folder);
  write_index(folder, R"({"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"})");
  model m;
  tx::io::load_parameters(folder.path, m.tensors());
  CHECK(m.a == std::vector<float>{1, 2, 3, 4});
  CHECK(m.b == std::vector<float>{5, 6});
  SECTION("one whole file goes before them") {
    m.b = {8, 9};
    tx::io::save_parameters(folder / "model.safetensors", m.tensors());
    model other;
    tx::io::load_parameters(folder.path, other.tensors());
    CHECK(other.b == std::vector<float>{8, 9});
  }
}

TEST_CASE("an index that disagrees with its files", "[tensor_files]") {
  temp_folder folder;
  write_parts(folder);
  refused(folder, "neither model.safetensors nor model.safetensors.index.json");
  write_index(folder, R"({"a": "model-00002-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"})");
  refused(folder, "tensor 'a' is not in model-00002-of-00002.safetensors");
  write_index(folder, R"({"a": "model-00001-of-00002.safetensors", "b": "model-00001-of-00002.safetensors"})");
  refused(folder, "tensor 'b' is not in model-00001-of-00002.safetensors");
  write_index(folder, R"({"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors", "c": "model-00002-of-00002.safetensors"})");
  refused(folder, "tensor 'c' is not in model-00002-of-00002.safetensors");
  write_index(folder, R"({"b": "model-00001-of-00002.safetensors", "x": "model-00002-of-00002.safetensors"})");
  refused(folder, "tensor 'a' of model-00001-of-00002.safetensors is not where it says");
  write_index(folder, R"({"a": "model-00001-of-00003.safetensors", "b": "model-00002-of-00002.safetensors"})");
  refused(folder, "model-00001-of-00003.safetensors");
  write_index(folder, R"({"a": "../model-00001-of-00002.safetensors"})");
  refused(folder, "not a name in the same folder");
  write_index(folder, R"({"a": ".."})");
  refused(folder, "not a name in the same folder");
  write_index(folder, R"({"a": 3})");
  refused(folder, "the file of tensor 'a' is no string");
  write_index(folder, "[]");
  refused(folder, "has no weight_map");
  write_index(folder, "{");
  refused(folder, "is no JSON");
}

}  // namespace
