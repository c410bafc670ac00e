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
  CHECK(full.optimizer == "adamw(beta1 0.9, beta2 0.999)");
  CHECK(tx::io::value_of<double>(full.settings, "learning_rate") == 0.001);
  CHECK(tx::io::value_of<std::int64_t>(full.settings, "schedule.shape") == 2);
  CHECK(tx::io::value_of<std::string>(full.position, "a \"name\"\n") == "text");
  CHECK(tx::io::value_of<double>(full.position, "inf") == -HUGE_VAL);
  CHECK(full.files.at("optimizer.safetensors") == tx::io::file_sum{1234, 0});
  CHECK(tx::io::json_of(full) == tx::io::read_text(TX_TEST_DIR "/../fuzz/corpus/checkpoint/full"));
  CHECK(parse("empty").files.empty());
  CHECK(parse("no_optimizer").optimizer.empty());
  CHECK(parse("optimizer_escaped").optimizer == "a \"b\" \\ \x07");
}

TEST_CASE("a manifest that is written in any other way is refused", "[checkpoint]") {
  for (char const* name : {"cut_short", "no_checksum", "wrong_checksum", "upper_checksum", "more_behind"})
    CHECK_THROWS_AS(parse(name), tx::io::damaged_checkpoint);
  CHECK_THROWS_WITH(parse("another_version"), Contains("version 3 of the format; this program reads version 2. FIX: "));
  CHECK_THROWS_WITH(parse("first_version"), Contains("version 1 of the format"));
  for (char const* name : {"name_twice",
                           "out_of_order",
                           "too_many_digits",
                           "unneeded_escape",
                           "no_end_of_text",
                           "optimizer_number",
                           "optimizer_not_utf8",
                           "negative_step",
                           "step_of_65_bits",
                           "negative_seed",
                           "plus",
                           "zeros",
                           "integer_too_large",
                           "number_too_large",
                           "number_other",
                           "a_list",
                           "true",
                           "not_utf8",
                           "short_crc",
                           "upper_crc",
                           "negative_bytes",
                           "other_order"}) {
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
