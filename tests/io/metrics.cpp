#include <tx/io/metrics.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "size_limit.hpp"
#include "temp_folder.hpp"

using Catch::Matchers::Contains;
using tx::io::metrics_log;

TEST_CASE("metrics are JSON lines") {
  temp_folder folder;
  metrics_log log(folder / "m.jsonl");
  log.write({{"step", 3}, {"loss", 0.25}, {"rate", 0.1f}, {"phase", "train"}, {"ok", true}});
  log.write({{"inf", std::numeric_limits<double>::infinity()}, {"nan", std::nanf("")}, {"s", std::string("a\"\n")}});
  log.write({});
  log.write(7, {{"loss", 0.5}});
  CHECK(tx::io::read_text(folder / "m.jsonl") ==
        "{\"step\":3,\"loss\":0.25,\"rate\":0.1,\"phase\":\"train\",\"ok\":true}\n"
        "{\"inf\":null,\"nan\":null,\"s\":\"a\\\"\\u000a\"}\n{}\n{\"step\":7,\"loss\":0.5}\n");
}

TEST_CASE("numbers come back exactly") {
  temp_folder folder;
  for (double const value : {1e300, -4.9e-324, 1.0 / 3, 1e20, -0.0}) {
    metrics_log(folder / "m").write({{"v", value}});
    std::string const text = tx::io::read_text(folder / "m");
    CHECK(nlohmann::json::parse(text)["v"].get<double>() == value);
    std::filesystem::remove(folder / "m");
  }
  metrics_log(folder / "m").write({{"v", std::numeric_limits<std::int64_t>::min()}});
  CHECK(nlohmann::json::parse(tx::io::read_text(folder / "m"))["v"] == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("a second run appends, and ends a line that was cut short") {
  temp_folder folder;
  metrics_log(folder / "m").write({{"a", 1}});
  metrics_log(folder / "m").write({{"a", 2}});
  CHECK(tx::io::read_text(folder / "m") == "{\"a\":1}\n{\"a\":2}\n");
  tx::io::write_file_atomic(folder / "m", "{\"a\":1}\n{\"a\"");
  metrics_log(folder / "m").write({{"a", 3}});
  CHECK(tx::io::read_text(folder / "m") == "{\"a\":1}\n{\"a\"\n{\"a\":3}\n");
}

TEST_CASE("lines of later steps are taken back, and a last line that was cut short") {
  temp_folder folder;
  auto const file = folder / "m";
  tx::io::cut_metrics(file, 3);  // there is nothing
  CHECK_FALSE(std::filesystem::exists(file));
  {
    metrics_log log(file);
    log.write({{"note", "a line without a step"}});
    for (std::int64_t const step : {1, 3, 3, 4, 2}) log.write(step, {{"loss", 0.5}});
  }
  std::string const all = tx::io::read_text(file);
  std::size_t const kept = all.find("{\"step\":4");
  tx::io::cut_metrics(file, 4);
  CHECK(tx::io::read_text(file) == all);
  tx::io::write_file_atomic(file, all + "{\"step\":2,");
  tx::io::cut_metrics(file, 4);
  CHECK(tx::io::read_text(file) == all);
  tx::io::cut_metrics(file, 3);  // what was written after a later step was written by a run that had gone on
  CHECK(tx::io::read_text(file) == all.substr(0, kept));
  tx::io::cut_metrics(file, 0);
  CHECK(tx::io::read_text(file) == "{\"note\":\"a line without a step\"}\n");
  tx::io::write_file_atomic(file, "{\"ste");
  tx::io::cut_metrics(file, 9);
  CHECK(tx::io::read_text(file).empty());
}

TEST_CASE("metrics that cannot be written are an io_error, and the log goes on") {
  temp_folder folder;
  CHECK_THROWS_WITH(metrics_log(folder / "no/m"), Contains("no/m") && Contains("No such file"));
  CHECK_THROWS_WITH(metrics_log(folder.path), Contains("directory"));
  metrics_log full("/dev/full");
  CHECK_THROWS_WITH(full.write({{"a", 1}}), Contains("No space left"));
  metrics_log log(folder / "m");
  {
    size_limit limit(10);
    CHECK_THROWS_AS(log.write({{"long", "0123456789"}}), tx::io_error);
  }
  log.write({{"a", 1}});
  CHECK(tx::io::read_text(folder / "m") == "{\"long\":\"0\n{\"a\":1}\n");
  CHECK_THROWS_AS(log.write({{"a", 1}, {"a", 2}}), tx::value_error);
  CHECK_THROWS_AS(log.write(1, {{"step", 2}}), tx::value_error);
}
