#include <tx/io/safetensors.hpp>

#include <catch2/catch.hpp>

#include "size_limit.hpp"
#include "temp_folder.hpp"

using Catch::Matchers::Contains;
using tx::io::safetensors;
using tx::io::tensor_info;
using tx::io::write_safetensors;

namespace {

std::vector<std::byte> some_bytes(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 31 + 7);
  return bytes;
}

std::string header_of(std::filesystem::path const& path) {
  std::string const text = tx::io::read_text(path);
  std::uint64_t length = 0;
  std::memcpy(&length, text.data(), 8);
  return text.substr(8, length);
}

}  // namespace

TEST_CASE("what is written is read back") {
  temp_folder folder;
  auto const bytes = some_bytes(48);
  std::byte const flags[] = {std::byte{0}, std::byte{1}, std::byte{1}};
  auto const part = [&](std::size_t n) { return std::span(bytes).first(n); };
  using enum tx::dtype;
  std::vector<tensor_info> const tensors{
      {"w", f32, {2, 3}, part(24)},   {"x", f64, {}, part(8)},   {"a\"\\\n\xC3\xA9", bf16, {3}, part(6)},
      {"y", f16, {1, 1, 2}, part(4)}, {"l", i64, {6}, part(48)}, {"i", i32, {0, 5}, part(0)},
      {"s", i16, {1}, part(2)},       {"c", i8, {5}, part(5)},   {"", u8, {7}, part(7)},
      {"m", boolean, {3}, flags}};
  std::map<std::string, std::string> const metadata{{"format", "tx"}, {"quote", "\"\\\t"}};
  write_safetensors(folder / "a", tensors, metadata);
  auto const file = safetensors::read(folder / "a");
  CHECK(file.metadata() == metadata);
  REQUIRE(file.tensors().size() == tensors.size());
  for (auto const& t : tensors) {
    auto const* found = file.find(t.name);
    REQUIRE(found != nullptr);
    CHECK(found->type == t.type);
    CHECK(found->shape == t.shape);
    CHECK(std::ranges::equal(found->bytes, t.bytes));
    // Sorted by element size behind a padded header, every tensor lies aligned.
    CHECK(reinterpret_cast<std::uintptr_t>(found->bytes.data()) % static_cast<std::size_t>(tx::size_of(t.type)) == 0);
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("tensors are sorted by element size, then name, and the header is padded") {
  temp_folder folder;
  auto const bytes = some_bytes(8);
  auto const part = [&](std::size_t n) { return std::span(bytes).first(n); };
  using enum tx::dtype;
  std::vector<tensor_info> tensors{
      {"b", u8, {1}, part(1)}, {"z", f32, {1}, part(4)}, {"a", i32, {1}, part(4)}, {"y", f64, {1}, part(8)}};
  write_safetensors(folder / "a", tensors, {{"k", "v"}});
  std::string const header = header_of(folder / "a");
  CHECK(header.size() % 8 == 0);
  CHECK(
      header.substr(0, header.find_last_not_of(' ') + 1) ==
      R"({"__metadata__":{"k":"v"},"y":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"I32","shape":[1],"data_offsets":[8,12]},"z":{"dtype":"F32","shape":[1],"data_offsets":[12,16]},)"
      R"("b":{"dtype":"U8","shape":[1],"data_offsets":[16,17]}})");
  std::ranges::reverse(tensors);
  write_safetensors(folder / "b", tensors, {{"k", "v"}});
  CHECK(tx::io::read_text(folder / "a") == tx::io::read_text(folder / "b"));
}

TEST_CASE("no tensors make a file too") {
  temp_folder folder;
  write_safetensors(folder / "a", {});
  CHECK(header_of(folder / "a") == "{}      ");
  CHECK(safetensors::read(folder / "a").tensors().empty());
}

TEST_CASE("tensors the format cannot hold are refused before anything is written") {
  temp_folder folder;
  auto const bytes = some_bytes(8);
  auto const refused = [&](std::vector<tensor_info> const& tensors, std::string const& reason) {
    CHECK_THROWS_AS(write_safetensors(folder / "a", tensors), tx::value_error);
    CHECK_THROWS_WITH(write_safetensors(folder / "a", tensors), Contains(reason));
  };
  using enum tx::dtype;
  refused({{"a", f64, {1}, bytes}, {"a", f64, {1}, bytes}}, "'a' is given twice");
  refused({{"a", f64, {1}, bytes}, {"b", f64, {1}, bytes}, {"a", f32, {2}, bytes}}, "'a' is given twice");
  refused({{"__metadata__", f64, {1}, bytes}}, "keeps this name");
  refused({{"\xFF", f64, {1}, bytes}}, "not UTF-8");
  refused({{"a", f64, {2}, bytes}}, "8 bytes where its type and shape take up 16");
  refused({{"a", f64, {-1}, bytes}}, "negative");
  refused({{"a", f64, {INT64_MAX, 2}, bytes}}, "does not fit");
  refused({{"a", boolean, {8}, bytes}}, "BOOL");
  CHECK_THROWS_AS(write_safetensors(folder / "a", {}, {{"k", "\xFF"}}), tx::value_error);
  CHECK_THROWS_AS(write_safetensors(folder / "a", {}, {{"k", std::string(100'000'000, 'x')}}), tx::value_error);
  CHECK(folder.entries() == 0);
}

TEST_CASE("a disk that is full leaves the old file") {
  temp_folder folder;
  auto const bytes = some_bytes(100'000);
  tensor_info const tensors[] = {{"a", tx::dtype::u8, {100'000}, bytes}};
  write_safetensors(folder / "a", {});
  {
    size_limit limit(4096);
    CHECK_THROWS_AS(write_safetensors(folder / "a", tensors), tx::io_error);
    CHECK_THROWS_WITH(write_safetensors(folder / "a", tensors), Contains("cannot write") && Contains("too large"));
  }
  CHECK(safetensors::read(folder / "a").tensors().empty());
  CHECK(folder.entries() == 1);
  CHECK_THROWS_WITH(write_safetensors("/dev/full", tensors), Contains("/dev/full") && Contains("No space left"));
  CHECK_THROWS_WITH(write_safetensors(folder / "no/a", tensors), Contains("No such file"));
}
