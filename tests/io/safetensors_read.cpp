#include <tx/io/safetensors.hpp>

#include <catch2/catch.hpp>

#include "safetensors_bytes.hpp"
#include "temp_folder.hpp"

using Catch::Matchers::Contains;
using tx::io::safetensors;

namespace {

safetensors parse(std::string const& header, std::size_t data = 0) {
  return safetensors::parse(safetensors_bytes(header, data));
}

void refused(std::string const& header, std::size_t data, std::string const& reason) {
  INFO(header);
  CHECK_THROWS_AS(parse(header, data), tx::format_error);
  CHECK_THROWS_WITH(parse(header, data), Contains(reason));
}

std::string tensor(std::string const& name, std::string const& type, std::string const& shape,
                   std::string const& offsets) {
  return '"' + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + '}';
}

}  // namespace

TEST_CASE("a file without tensors") {
  CHECK(parse("{}").tensors().empty());
  CHECK(parse("{}      ").metadata().empty());
}

TEST_CASE("every type is known") {
  using enum tx::dtype;
  std::pair<char const*, tx::dtype> const types[] = {{"F64", f64}, {"F32", f32},     {"BF16", bf16}, {"F16", f16},
                                                     {"I64", i64}, {"I32", i32},     {"I16", i16},   {"I8", i8},
                                                     {"U8", u8},   {"BOOL", boolean}, {"F8_E4M3", e4m3}};
  for (auto const& [name, type] : types) {
    auto const size = static_cast<std::size_t>(tx::size_of(type)) * 6;
    auto const file = parse('{' + tensor("a", name, "[2,3]", "[0," + std::to_string(size) + "]") + '}', size);
    REQUIRE(file.tensors().size() == 1);
    CHECK(file.tensors()[0].type == type);
    CHECK(file.tensors()[0].bytes.size() == size);
    CHECK(file.tensors()[0].shape == std::vector<std::int64_t>{2, 3});
  }
  refused('{' + tensor("a", "F8_E5M2", "[1]", "[0,1]") + '}', 1, "tensor 'a': unknown dtype 'F8_E5M2'");
  refused('{' + tensor("a", "U16", "[1]", "[0,2]") + '}', 2, "unknown dtype");
  refused('{' + tensor("a", "f32", "[1]", "[0,4]") + '}', 4, "unknown dtype");
}

TEST_CASE("tensors are found by name, in the order of their bytes") {
  auto data =
      safetensors_bytes("{" + tensor("b", "U8", "[2]", "[1,3]") + "," + tensor("a", "U8", "[1]", "[0,1]") + "}  ", 3);
  data[data.size() - 3] = std::byte{1};
  data[data.size() - 2] = std::byte{2};
  data[data.size() - 1] = std::byte{3};
  auto file = safetensors::parse(std::move(data));
  auto const check = [](safetensors const& f) {
    REQUIRE(f.tensors().size() == 2);
    CHECK(f.tensors()[0].name == "a");
    REQUIRE(f.find("b") != nullptr);
    CHECK(f.find("b")->bytes[1] == std::byte{3});
    CHECK(f.find("a")->bytes[0] == std::byte{1});
    CHECK(f.find("c") == nullptr);
    CHECK(f.find("") == nullptr);
  };
  check(file);
  auto const* before = file.find("b");
  auto const moved = std::move(file);
  check(moved);
  CHECK(moved.find("b") == before);
}

TEST_CASE("scalars and empty tensors are legal") {
  auto const file = parse('{' + tensor("s", "F32", "[]", "[0,4]") + ',' + tensor("e", "F32", "[3,0]", "[4,4]") + ',' +
                              tensor("f", "I64", "[0]", "[0,0]") + '}',
                          4);
  CHECK(file.find("s")->shape.empty());
  CHECK(file.find("s")->bytes.size() == 4);
  CHECK(file.find("e")->bytes.empty());
  CHECK(file.find("f")->bytes.empty());
}

TEST_CASE("metadata are strings") {
  auto const file = parse(R"({"__metadata__":{"format":"pt","x":"\u00e9","":""}})");
  CHECK(file.metadata() == std::map<std::string, std::string>{{"", ""}, {"format", "pt"}, {"x", "\xC3\xA9"}});
  refused(R"({"__metadata__":{"a":1}})", 0, "'a' holds a number, not a string");
  refused(R"({"__metadata__":{"a":{}}})", 0, "'a' holds an object");
  refused(R"({"__metadata__":{"a":null}})", 0, "null");
  refused(R"({"__metadata__":[]})", 0, "an array where an object belongs");
  refused(R"({"__metadata__":"x"})", 0, "a string where an object belongs");
}

TEST_CASE("the length before the header is checked") {
  CHECK_THROWS_WITH(safetensors::parse({}), Contains("shorter than the 8 bytes"));
  CHECK_THROWS_WITH(safetensors::parse(std::vector<std::byte>(7)), Contains("shorter than the 8 bytes"));
  CHECK_THROWS_WITH(safetensors::parse(safetensors_bytes(0, "")), Contains("does not begin with '{'"));
  CHECK_THROWS_WITH(safetensors::parse(safetensors_bytes(3, "{}")), Contains("past the file's end"));
  CHECK_THROWS_WITH(safetensors::parse(safetensors_bytes(1, "{}")), Contains("with spaces after it"));
  CHECK_THROWS_WITH(safetensors::parse(safetensors_bytes(100'000'000, "{}")), Contains("past the file's end"));
  CHECK_THROWS_WITH(safetensors::parse(safetensors_bytes(100'000'001, "{}")),
                    Contains("allowed are 100000000; is it a safetensors file?"));
  CHECK_THROWS_WITH(safetensors::parse(safetensors_bytes(UINT64_MAX, "{}")), Contains("allowed are"));
  CHECK_THROWS_WITH(safetensors::parse(safetensors_bytes(UINT64_MAX - 7, "{}")), Contains("allowed are"));
}

TEST_CASE("the header is one JSON object and then spaces") {
  refused(" {}", 0, "does not begin with '{'");
  refused("[]", 0, "does not begin with '{'");
  refused("\xEF\xBB\xBF{}", 0, "does not begin with '{'");
  refused("{}\n", 0, "with spaces after it");
  refused("{} {}", 0, "not JSON");
  refused("{}x", 0, "with spaces after it");
  refused(std::string("{}\0{}", 5), 0, "NUL byte");
  refused(std::string("{}\0 ", 4), 0, "NUL byte");
  refused("{", 0, "with spaces after it");
  refused("{,}", 0, "not JSON");
  refused(R"({"a":})", 0, "not JSON");
  refused("{/**/}", 0, "not JSON");
  refused("{\"\xFF\":{}}", 0, "not UTF-8");
  refused("{\"\xED\xA0\x80\":{}}", 0, "not UTF-8");
  refused(R"({"\ud800":{}})", 0, "not JSON");
}

TEST_CASE("no key occurs twice") {
  auto const a = tensor("a", "U8", "[1]", "[0,1]");
  refused('{' + a + ',' + tensor("a", "U8", "[1]", "[1,2]") + '}', 2, "'a' is given twice");
  refused('{' + a + ',' + tensor("\\u0061", "U8", "[1]", "[1,2]") + '}', 2, "'a' is given twice");
  refused('{' + a + ',' + tensor("b", "U8", "[1]", "[1,2]") + ',' + tensor("a", "U8", "[0]", "[2,2]") + '}', 2,
          "twice");
  refused(R"({"__metadata__":{},"__metadata__":{}})", 0, "__metadata__ is given twice");
  refused(R"({"__metadata__":{"k":"1","k":"1"}})", 0, "'k' is given twice");
  refused(R"({"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0, "dtype is given twice");
  refused(R"({"a":{"dtype":"U8","shape":[0],"shape":[0],"data_offsets":[0,0]}})", 0, "shape is given twice");
  refused(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"data_offsets":[0,0]}})", 0, "data_offsets is given");
}

TEST_CASE("a tensor has its three keys and nothing else") {
  refused(R"({"a":{"shape":[0],"data_offsets":[0,0]}})", 0, "dtype is missing");
  refused(R"({"a":{"dtype":"U8","data_offsets":[0,0]}})", 0, "shape is missing");
  refused(R"({"a":{"dtype":"U8","shape":[0]}})", 0, "data_offsets is missing");
  refused(R"({"a":{}})", 0, "is missing");
  refused(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"more":1}})", 0, "unknown key 'more'");
  refused(R"({"a":1})", 0, "a number where its description belongs");
  refused(R"({"a":[]})", 0, "an array where its description belongs");
  refused(R"({"a":null})", 0, "null where its description belongs");
}

TEST_CASE("values have the kind the format says") {
  refused(R"({"a":{"dtype":1}})", 0, "a number where a string belongs");
  refused(R"({"a":{"dtype":["U8"]}})", 0, "an array where a string belongs");
  refused(R"({"a":{"shape":"x"}})", 0, "a string where a list of sizes belongs");
  refused(R"({"a":{"shape":{}}})", 0, "an object where a list of sizes belongs");
  refused(R"({"a":{"shape":[[1]]}})", 0, "an array in its shape");
  refused(R"({"a":{"shape":["1"]}})", 0, "a string in its shape");
  refused(R"({"a":{"shape":[true]}})", 0, "a boolean in its shape");
  refused(R"({"a":{"shape":[-1]}})", 0, "a negative number in its shape");
  refused(R"({"a":{"shape":[1.0]}})", 0, "the number '1.0' in its shape");
  refused(R"({"a":{"shape":[1e2]}})", 0, "the number '1e2' in its shape");
  refused(R"({"a":{"shape":[9223372036854775808]}})", 0, "too large");
  refused(R"({"a":{"shape":[18446744073709551616]}})", 0, "the number");
  refused(R"({"a":{"data_offsets":[0]}})", 0, "fewer than two");
  refused(R"({"a":{"data_offsets":[]}})", 0, "fewer than two");
  refused(R"({"a":{"data_offsets":[0,0,0]}})", 0, "more than two");
  refused(R"({"a":{"data_offsets":[-1,0]}})", 0, "a negative number in its data_offsets");
  refused(R"({"a":{"data_offsets":[0,{}]}})", 0, "an object in its data_offsets");
}

TEST_CASE("deep nesting is refused where it begins") {
  std::string deep = R"({"a":)";
  for (int i = 0; i < 1'000'000; ++i) deep += '[';
  refused(deep + "}", 0, "an array where its description belongs");
  deep = R"({"a":)";
  for (int i = 0; i < 100'000; ++i) deep += R"({"a":)";
  CHECK_THROWS_WITH(parse(deep + "}"), Contains("unknown key 'a'"));
}

TEST_CASE("the tensors' bytes leave no hole and no overlap") {
  auto const two = [](std::string const& a, std::string const& b) {
    return '{' + tensor("a", "U8", "[2]", a) + ',' + tensor("b", "U8", "[2]", b) + '}';
  };
  CHECK(parse(two("[0,2]", "[2,4]"), 4).tensors().size() == 2);
  CHECK(parse(two("[2,4]", "[0,2]"), 4).tensors().size() == 2);
  refused(two("[0,2]", "[3,5]"), 5, "tensor 'b': bytes 3 to 5 leave a hole after byte 2");
  refused(two("[1,3]", "[3,5]"), 5, "tensor 'a': bytes 1 to 3 leave a hole");
  refused(two("[0,2]", "[1,3]"), 3, "tensor 'b': bytes 1 to 3 overlap");
  refused(two("[0,2]", "[0,2]"), 2, "overlap");
  refused(two("[2,0]", "[2,4]"), 4, "end before they begin");
  refused(two("[0,2]", "[2,4]"), 3, "past the file's 3 bytes of data");
  refused(two("[0,2]", "[2,4]"), 5, "1 bytes after the last tensor belong to none");
  refused("{}", 1, "belong to none");
  refused('{' + tensor("a", "U8", "[2]", "[0,2]") + ',' + tensor("e", "U8", "[0]", "[1,1]") + '}', 2, "overlap");
  refused('{' + tensor("e", "U8", "[0]", "[1,1]") + '}', 0, "leave a hole");
  refused('{' + tensor("a", "U8", "[2]", "[0,18446744073709551615]") + '}', 2, "past the file");
}

TEST_CASE("a tensor is as long as its type and shape say") {
  refused('{' + tensor("a", "F32", "[2]", "[0,7]") + '}', 7, "bytes 0 to 7 where its type and shape take up 8");
  refused('{' + tensor("a", "F32", "[]", "[0,0]") + '}', 0, "take up 4");
  refused('{' + tensor("a", "F32", "[0]", "[0,4]") + '}', 4, "take up 0");
  // Products that would come out right if they wrapped around.
  refused('{' + tensor("a", "U8", "[4294967296,4294967296]", "[0,0]") + '}', 0, "does not fit 64 bits");
  refused('{' + tensor("a", "F64", "[2305843009213693952]", "[0,0]") + '}', 0, "does not fit 64 bits");
  refused('{' + tensor("a", "U8", "[9223372036854775807,9223372036854775807]", "[0,1]") + '}', 1, "does not fit 64");
}

TEST_CASE("tensors need not lie aligned") {
  auto data =
      safetensors_bytes('{' + tensor("b", "U8", "[1]", "[0,1]") + ',' + tensor("f", "F32", "[2]", "[1,9]") + '}', 9);
  float const values[] = {1.5f, -2};
  std::memcpy(data.data() + data.size() - 8, values, 8);
  auto const file = safetensors::parse(std::move(data));
  auto const bytes = file.find("f")->bytes;
  REQUIRE(bytes.size() == 8);
  CHECK(std::memcmp(bytes.data(), values, 8) == 0);
  CHECK(bytes.data() == file.find("b")->bytes.data() + 1);
}

TEST_CASE("a BOOL byte is 0 or 1") {
  auto data = safetensors_bytes('{' + tensor("m", "BOOL", "[2]", "[0,2]") + '}', 2);
  data.back() = std::byte{1};
  CHECK_NOTHROW(safetensors::parse(std::vector(data)));
  data.back() = std::byte{2};
  CHECK_THROWS_WITH(safetensors::parse(std::move(data)), Contains("tensor 'm': a BOOL byte"));
}

TEST_CASE("messages name the file") {
  temp_folder folder;
  tx::io::write_file_atomic(folder / "broken.safetensors", "short");
  CHECK_THROWS_AS(safetensors::read(folder / "broken.safetensors"), tx::format_error);
  CHECK_THROWS_WITH(safetensors::read(folder / "broken.safetensors"), Contains("broken.safetensors: shorter"));
  CHECK_THROWS_AS(safetensors::read(folder / "none"), tx::io_error);
  CHECK_THROWS_AS(safetensors::read(folder.path), tx::io_error);
  CHECK_THROWS_WITH(safetensors::parse({}, "the weights"), Contains("the weights: "));
}
