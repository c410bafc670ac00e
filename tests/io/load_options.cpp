// Files whose names and types are not quite the model's: what load_options says of them, and that nothing is written where it is refused.
#include "named_tensor.hpp"
#include "temp_folder.hpp"

#include <tx/io/parameters.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

namespace {

using tx::io::load_options;

// A model of two tensors, whose elements are 7 before anything is loaded.
struct small_model {
  std::vector<float> weight = std::vector<float>(6, 7.f), bias = std::vector<float>(3, 7.f);

  std::vector<named_tensor<float>> tensors() { return {{"net.dense.weight", {2, 3}, weight}, {"net.dense.bias", {3}, bias}}; }
  bool untouched() const { return weight == std::vector<float>(6, 7.f) && bias == std::vector<float>(3, 7.f); }
};

template <class T>
std::vector<T> counted(int n) {
  std::vector<T> v;
  for (int i = 0; i < n; ++i) v.push_back(tx::element_of<T>(i + 0.25));
  return v;
}

// A file of these names, the first of six elements [2, 3], the second of three, every further one of one.
template <class T = float>
void write(std::filesystem::path const& path, std::vector<std::string> const& names) {
  std::vector<T> all[3] = {counted<T>(6), counted<T>(3), counted<T>(1)};
  std::vector<named_tensor<T>> tensors;
  for (std::size_t k = 0; k < names.size(); ++k)
    tensors.push_back({names[k], k == 0 ? std::vector<std::int64_t>{2, 3} : std::vector<std::int64_t>{k == 1 ? 3 : 1}, all[std::min<std::size_t>(k, 2)]});
  tx::io::save_parameters(path, tensors);
}

void check_loaded(small_model const& m) {
  CHECK(m.weight == counted<float>(6));
  CHECK(m.bias == counted<float>(3));
}

void refused(std::filesystem::path const& path, load_options const& options, std::string const& reason) {
  small_model m;
  CHECK_THROWS_WITH(tx::io::load_parameters(path, m.tensors(), options), Catch::Contains(reason));
  CHECK(m.untouched());
}

TEST_CASE("names match patterns", "[load_options]") {
  using tx::io::detail::matches;
  CHECK(matches("*position_ids", "bert.embeddings.position_ids"));
  CHECK(matches("*position_ids", "position_ids"));
  CHECK_FALSE(matches("*position_ids", "position_ids.x"));
  CHECK(matches("a*b*c", "abbbc"));
  CHECK(matches("a*b*c", "axbxbc"));
  CHECK_FALSE(matches("a*b*c", "axcxb"));
  CHECK(matches("*", ""));
  CHECK(matches("**", "x"));
  CHECK_FALSE(matches("", "x"));
  CHECK(matches("", ""));
  CHECK_FALSE(matches("a.b", "a.bc"));
}

TEST_CASE("names with something in front, in the file or in the model", "[load_options]") {
  temp_folder folder;
  auto const file = folder / "f.safetensors";
  small_model m;
  SECTION("as they are") {
    write(file, {"net.dense.weight", "net.dense.bias"});
    tx::io::load_parameters(file, m.tensors());
  }
  SECTION("in the file") {
    write(file, {"bert.net.dense.weight", "bert.net.dense.bias"});
    refused(file, {}, "lacks the tensor net.dense.weight; of other names it has 'bert.net.dense.weight'");
    tx::io::load_parameters(file, m.tensors(), {.prefix = "bert."});
  }
  SECTION("in the model") {
    write(file, {"dense.weight", "dense.bias"});
    refused(file, {}, "lacks the tensor net.dense.weight");
    tx::io::load_parameters(file, m.tensors(), {.into = "net."});
  }
  SECTION("one for another") {
    write(file, {"encoder.dense.weight", "encoder.dense.bias"});
    tx::io::load_parameters(file, m.tensors(), {.prefix = "encoder.", .into = "net."});
  }
  check_loaded(m);
}

TEST_CASE("an encoder's file into a larger model leaves what it lacks", "[load_options]") {
  temp_folder folder;
  auto const file = folder / "f.safetensors";
  write(file, {"net.dense.weight"});
  refused(file, {}, "lacks the tensor net.dense.bias");
  refused(file, {.missing = {"*.weight"}}, "lacks the tensor net.dense.bias");
  small_model m;
  tx::io::load_parameters(file, m.tensors(), {.missing = {"net.dense.b*"}});
  CHECK(m.weight == counted<float>(6));
  CHECK(m.bias == std::vector<float>(3, 7.f));
}

TEST_CASE("older names of a norm's parameters", "[load_options]") {
  temp_folder folder;
  auto const file = folder / "f.safetensors";
  write(file, {"net.dense.gamma", "net.dense.beta"});
  small_model m;
  tx::io::load_parameters(file, m.tensors());
  check_loaded(m);
  refused(file, {.rename = {}}, "lacks the tensor net.dense.weight");
  // A file that has both says something else by each.
  write(file, {"net.dense.weight", "net.dense.bias", "net.dense.gamma"});
  refused(file, {}, "has the tensor net.dense.gamma, which the model lacks");
}

TEST_CASE("leftovers are ignored by name, shape and type, everything else is refused by name", "[load_options]") {
  temp_folder folder;
  auto const file = folder / "f.safetensors";
  small_model first;
  std::vector<float> six(6), one(1);
  first.weight = counted<float>(6);
  first.bias = counted<float>(3);
  auto const with = [&](std::string const& name, std::vector<std::int64_t> shape, auto& data) {
    std::vector<tx::io::detail::tensor_place> places;
    tx::io::detail::append_places(places, first.tensors());
    tx::io::detail::append_places(places, std::vector{named_tensor<typename std::remove_cvref_t<decltype(data)>::value_type>{name, std::move(shape), data}});
    tx::io::write_safetensors(file, tx::io::detail::infos_of(places), {});
  };
  auto const loads = [&] {
    small_model m;
    tx::io::load_parameters(file, m.tensors());
    check_loaded(m);
  };
  std::vector<std::int64_t> places(6);
  with("net.embeddings.position_ids", {1, 6}, places);
  loads();
  with("h.0.attn.bias", {1, 1, 2, 3}, six);
  loads();
  with("net.bn.num_batches_tracked", {}, one);
  loads();
  with("net.embeddings.position_ids", {1, 6}, six);
  refused(file, {}, "has the tensor net.embeddings.position_ids, which the model lacks");
  with("h.0.attn.bias", {6}, six);
  refused(file, {}, "has the tensor h.0.attn.bias, which the model lacks");
  with("pooler.dense.bias", {1}, one);
  refused(file, {}, "has the tensor pooler.dense.bias, which the model lacks");
  small_model other;
  tx::io::load_parameters(file, other.tensors(), {.ignore = {"pooler.*"}});
  check_loaded(other);
}

TEST_CASE("a tensor of the file is one parameter, not two", "[load_options]") {
  temp_folder folder;
  auto const file = folder / "f.safetensors";
  std::vector<float> a(3, 7.f), b(3, 7.f), three = counted<float>(3);
  tx::io::save_parameters(file, std::vector<named_tensor<float>>{{"norm.gamma", {3}, three}});
  std::vector<named_tensor<float>> const both{{"norm.weight", {3}, a}, {"norm.gamma", {3}, b}};
  CHECK_THROWS_WITH(tx::io::load_parameters(file, both), Catch::Contains("tensor norm.gamma would be norm.gamma and another parameter too"));
  CHECK(a == std::vector<float>(3, 7.f));
}

TEMPLATE_TEST_CASE("numbers of another floating type are rounded where that is asked for", "[load_options]", double, tx::bf16, tx::f16) {
  temp_folder folder;
  auto const file = folder / "f.safetensors";
  write<TestType>(file, {"net.dense.weight", "net.dense.bias"});
  refused(file, {}, "; the model was compiled for f32[2, 3]. FIX: load_options{.convert = true} rounds");
  small_model m;
  tx::io::load_parameters(file, m.tensors(), {.convert = true});
  check_loaded(m);  // quarters below 8 are exact in each
}

TEST_CASE("numbers that the model's type does not hold are refused", "[load_options]") {
  temp_folder folder;
  auto const file = folder / "f.safetensors";
  auto const write_one = [&](double x) {
    std::vector<double> weight(6, 1.), bias(3, 1.);
    weight[4] = x;
    tx::io::save_parameters(file, std::vector<named_tensor<double>>{{"net.dense.weight", {2, 3}, weight}, {"net.dense.bias", {3}, bias}});
  };
  write_one(1e39);
  refused(file, {.convert = true}, "which is infinite in f32 at element 4");
  write_one(std::numeric_limits<double>::infinity());
  refused(file, {.finite = true, .convert = true}, "holds a NaN or an infinity at element 4");
  small_model m;
  tx::io::load_parameters(file, m.tensors(), {.convert = true});
  CHECK(std::isinf(m.weight[4]));
  write_one(1e-60);
  tx::io::load_parameters(file, m.tensors(), {.convert = true});
  CHECK(m.weight[4] == 0.f);
}

TEST_CASE("integers are never taken for other numbers", "[load_options]") {
  temp_folder folder;
  auto const file = folder / "f.safetensors";
  write<std::int32_t>(file, {"net.dense.weight", "net.dense.bias"});
  refused(file, {.convert = true}, "is i32[2, 3]; the model was compiled for f32[2, 3]");
}

TEST_CASE("E4M3, whose scales are elsewhere in a file, is never taken for other numbers", "[load_options]") {
  temp_folder folder;
  auto const file = folder / "f.safetensors";
  write<tx::e4m3>(file, {"net.dense.weight", "net.dense.bias"});
  refused(file, {}, "is e4m3[2, 3]; the model was compiled for f32[2, 3]");
  refused(file, {.convert = true}, "is e4m3[2, 3]; the model was compiled for f32[2, 3]");
  std::vector<tx::e4m3> weight(6), bias(3);
  tx::io::load_parameters(file, std::vector<named_tensor<tx::e4m3>>{{"net.dense.weight", {2, 3}, weight}, {"net.dense.bias", {3}, bias}});
  CHECK(weight[3].widen() == 3.25f);
}

}  // namespace
