// checkpoint.json: the files that the fuzzer begins with.
#include <tx/io/checkpoint_manifest.hpp>

#include <catch2/catch.hpp>

using Catch::Matchers::Contains;

namespace {

tx::io::checkpoint_manifest parse(std::string const& name) {
  return tx::io::parse_manifest(tx::io::read_text(TX_TEST_DIR "/../fuzz/corpus/checkpoint/" + name), name);
}

}  // namespace

TEST_CASE("a manifest is read and written again as it was", "[checkpoint]") {
  auto const full = parse("full");
  CHECK(full.step == 25);
  CHECK(full.seed == 18446744073709551612u);
  CHECK(tx::io::value_of<double>(full.settings, "learning_rate") == 0.001);
  CHECK(tx::io::value_of<std::int64_t>(full.settings, "schedule.shape") == 2);
  CHECK(tx::io::value_of<std::string>(full.position, "a \"name\"\n") == "text");
  CHECK(tx::io::value_of<double>(full.position, "inf") == -HUGE_VAL);
  CHECK(full.files.at("optimizer.safetensors") == tx::io::file_sum{1234, 0});
  CHECK(tx::io::json_of(full) == tx::io::read_text(TX_TEST_DIR "/../fuzz/corpus/checkpoint/full"));
  CHECK(parse("empty").files.empty());
}

TEST_CASE("a manifest that is written in any other way is refused", "[checkpoint]") {
  for (char const* name : {"cut_short", "no_checksum"}) CHECK_THROWS_AS(parse(name), tx::io::damaged_checkpoint);
  CHECK_THROWS_WITH(parse("another_version"), Contains("version 2 of the format; this program reads version 1. FIX: "));
  for (char const* name : {"name_twice", "out_of_order", "too_many_digits", "unneeded_escape", "no_end_of_text"}) {
    INFO(name);
    CHECK_THROWS_AS(parse(name), tx::format_error);
    try {
      parse(name);
    } catch (tx::io::damaged_checkpoint const&) {
      FAIL("its checksum is right");
    } catch (tx::format_error const&) {
    }
  }
}
