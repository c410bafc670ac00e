#include <tx/io/tensorboard.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "event_reader.hpp"
#include "size_limit.hpp"
#include "temp_folder.hpp"

using Catch::Matchers::Contains;
using tx::io::event_file;

namespace {

tx::io::event_file_options at(double seconds) {
  tx::io::event_file_options o;
  o.host = "host";
  o.now = [seconds] { return seconds; };
  return o;
}

std::string hex(std::string const& bytes) {
  std::string out;
  for (char const c : bytes) {
    out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    out += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

}  // namespace

// The bytes are those of a script of its own: struct.pack, and the checksum bit by bit.
TEST_CASE("an event file is TFRecords of events") {
  temp_folder folder;
  event_file events(folder.path, at(1700000000.5));
  events.write(300, {{"loss", 0.25}});
  CHECK(events.path() == folder / "events.out.tfevents.1700000000.host");
  CHECK(hex(tx::io::read_text(events.path())) ==
        "1800000000000000a37f4b220900002040fc54d9411a0d627261696e2e4576656e743a322b353110"
        "1b000000000000001a0d9e130900002040fc54d94110ac022a0d0a0b0a046c6f7373150000803ec5f6859b");
}

TEST_CASE("what was written is read back") {
  temp_folder folder;
  event_file events(folder / "a", at(12));
  events.write(0, {{"loss", 1.5f}, {"rate", 1e-3}, {"ok", true}, {"phase", "texts are left out"}});
  events.write(std::int64_t{1} << 40, {{"nan", std::nan("")}, {"inf", -std::numeric_limits<double>::infinity()}});
  events.write(2, {{"phase", "train"}});
  events.write(3, {{std::string(200, 'x'), -7}, {"a\xFF", 1}});
  auto const read = event_reader::read(tx::io::read_text(events.path()));
  REQUIRE(read.size() == 4);
  CHECK(read[0].version == "brain.Event:2");
  CHECK(read[0].wall_time == 12);
  CHECK(read[1].step == 0);
  CHECK(read[1].scalars == std::map<std::string, float>{{"loss", 1.5f}, {"rate", 1e-3f}, {"ok", 1.0f}});
  CHECK(read[2].step == std::int64_t{1} << 40);
  CHECK(std::isnan(read[2].scalars.at("nan")));
  CHECK(read[2].scalars.at("inf") == -std::numeric_limits<float>::infinity());
  CHECK(read[3].scalars == std::map<std::string, float>{{std::string(200, 'x'), -7.0f}, {"a\xEF\xBF\xBD", 1.0f}});
}

TEST_CASE("each run has a file of its own, and one that goes on says from where") {
  temp_folder folder;
  event_file first(folder.path, at(5));
  auto options = at(5);
  options.resumed_at = 40;
  event_file second(folder.path, options);
  options.host = "a/b";
  CHECK(event_file(folder.path, options).path() == folder / "events.out.tfevents.5.a-b");
  CHECK(second.path() == folder / "events.out.tfevents.5.host.1");
  auto const read = event_reader::read(tx::io::read_text(second.path()));
  REQUIRE(read.size() == 2);
  CHECK(read[1].session == 1);
  CHECK(read[1].step == 40);
  CHECK_THAT(event_file(folder.path).path().filename().string(), Catch::Matchers::StartsWith("events.out.tfevents.1"));
}

TEST_CASE("events that cannot be written are an io_error, and the file goes on") {
  temp_folder folder;
  tx::io::write_file_atomic(folder / "file", std::string_view{});
  CHECK_THROWS_AS(event_file(folder / "file"), tx::io_error);
  event_file events(folder / "a", at(1));
  {
    size_limit limit(50);  // the first event has 40 bytes
    CHECK_THROWS_WITH(events.write(1, {{"loss", 1}}), Contains("tfevents") && Contains("too large"));
  }
  CHECK_THROWS_AS(events.write(1, {{"a", 1}, {"a", 2}}), tx::value_error);
  events.write(2, {{"loss", 2}});
  auto const read = event_reader::read(tx::io::read_text(events.path()));
  REQUIRE(read.size() == 2);
  CHECK(read[1].step == 2);
}
