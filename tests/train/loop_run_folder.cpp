// A run's folder: made, refused, set aside or written over, and never by two runs at once.
#include "loop_run.hpp"

#include <tx/train/loop/run_folder.hpp>

#include <catch2/catch.hpp>

using namespace tx::train;

TEST_CASE("a run's folder", "[loop]") {
  temp_folder all;
  std::string const path = (all / "run").string();
  auto const write = [](std::string const& file) { tx::io::write_file_atomic(file, std::string_view("something")); };
  { run_folder const unused(path + "/", {}); }
  CHECK_FALSE(std::filesystem::exists(path));  // made, and nothing was written
  {
    run_folder folder(path, {});
    CHECK(folder.begin().empty());
    CHECK(folder.path() == path);
    CHECK_THROWS_WITH(run_folder(path, {}), Catch::Contains("another run is writing here"));
    write(path + "/model");
  }
  CHECK_THROWS_WITH(run_folder(path, {}), Catch::Contains(path + " exists and is not empty. FIX"));
  CHECK_THROWS_WITH(run_folder(path, {.refusal = "is there already"}), Catch::Contains(path + " is there already"));
  { run_folder const over(path, {.what = existing::write_over, .files = {"model", "metrics"}}); }
  { run_folder const resumed(path, {.what = existing::resume}); }
  tx::io::ensure_directory(path + "/metrics");
  CHECK_THROWS_WITH(run_folder(path, {.what = existing::write_over, .files = {"metrics"}}), Catch::Contains("metrics: Is a directory"));
  CHECK(std::filesystem::exists(path + "/model"));

  write(path + ".1");
  {
    run_folder aside(path, {.what = existing::set_aside, .files = {"metrics"}});
    CHECK(std::filesystem::exists(path + "/model"));  // until it begins
    CHECK(aside.begin() == path + ".2");
    CHECK(aside.begin().empty());
    CHECK_THROWS_WITH(run_folder(path, {}), Catch::Contains("another run is writing here"));
    write(path + "/new");
  }
  CHECK(names_in(path + ".2") == std::vector<std::string>{"metrics", "model"});
  CHECK(names_in(path) == std::vector<std::string>{"new"});
  {
    tx::io::ensure_directory(path + "/deep");
    run_folder const below(path + "/deep", {});
    CHECK_THROWS_WITH(run_folder(path, {.what = existing::set_aside}), Catch::Contains("another run is writing here"));
  }
}
