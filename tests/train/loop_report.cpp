// What a loop tells: the line, and the files of metrics, which have each step once however often a run is resumed.
#include "../io/event_reader.hpp"
#include "loop_run.hpp"

#include <catch2/catch.hpp>

using namespace tx::train;

namespace {

// A line of progress in a file, at every update.
struct written_line {
  std::filesystem::path path;
  tx::io::file_handle file;

  explicit written_line(std::filesystem::path p) : path(std::move(p)), file(path, O_WRONLY | O_CREAT | O_TRUNC, "write") {}
  tx::io::progress_options options() const { return {.fd = file.get(), .live = false, .plain_every = std::chrono::seconds(0)}; }
  std::string text() const { return tx::io::read_text(path); }
};

std::vector<std::int64_t> steps_in(std::filesystem::path const& metrics) {
  std::vector<std::int64_t> all;
  for (auto const& line : lines_of(metrics)) all.push_back(line.at("step").get<std::int64_t>());
  return all;
}

}  // namespace

TEST_CASE("a line has the smoothed loss and speeds, files have what each step was", "[loop]") {
  temp_folder folder;
  written_line line(folder / "line");
  report r({.metrics = folder / "metrics", .events = folder / "events", .every = 2, .loss = "bits", .progress = line.options()});
  r.open(std::nullopt);
  r.total(4, 0);
  for (std::int64_t step = 1; step <= 4; ++step) {
    double const loss = step == 1 ? 8 : 4;
    r.step(step, {loss, {{"rows", 32}, {"tokens", 100}}, 0.5}, 0.5, static_cast<double>(step));
  }
  r.write(4, std::vector<tx::io::metric>{{"dev_loss", 3}});
  r.note("a note");
  r.finish();
  CHECK_THAT(line.text(), Catch::Contains("step 1/4  bits 8  rows/s 64  tokens/s 200  rate 0.5") && Catch::Contains("step 2/4  bits 6  ") &&
                              Catch::Contains("step 4/4  bits 5  ") && Catch::Contains("a note\n"));
  auto const lines = lines_of(folder / "metrics");
  REQUIRE(lines.size() == 4);
  CHECK(lines[1] == nlohmann::json{{"step", 2}, {"loss", 4}, {"rate", 0.5}, {"rows_per_second", 64}, {"tokens_per_second", 200}, {"seconds", 2}});
  CHECK(lines[3] == nlohmann::json{{"step", 4}, {"dev_loss", 3}});
  auto const events = event_reader::read(tx::io::read_text(*std::filesystem::directory_iterator(folder / "events")));
  CHECK(events.size() == lines.size() + 1);
  report another({.metrics = folder / "metrics", .line = false});
  CHECK_THROWS_WITH(another.open(std::nullopt), Catch::Contains("has the metrics of another run. FIX"));
}

TEST_CASE("a resumed run takes back the metrics of steps that come again", "[loop]") {
  for (bool const length_is_known : {true, false}) {
    temp_folder folder;
    report_options const options{.metrics = folder / "metrics", .events = folder / "events", .line = false};
    to_save at_200;
    {
      report r(options);
      r.open(std::nullopt);
      for (std::int64_t step = 1; step <= 230; ++step) {
        r.step(step, {static_cast<double>(step)}, 1, 1);
        if (step == 200) r.write(200, std::vector<tx::io::metric>{{"dev_loss", 3}});
        if (step == 200 && length_is_known) r.save(at_200);
        if (step == 200 && length_is_known) r.write(200, std::vector<tx::io::metric>{{"dev_loss", 4}});  // of a validation that comes again
      }
    }
    tx::io::file_handle(folder / "metrics", O_WRONLY | O_APPEND, "write").write_all(std::as_bytes(std::span("{\"step\":23", 10)));  // and was killed
    tx::io::write_safetensors(folder / "arrays", {}, {});
    auto const arrays = tx::io::safetensors::read(folder / "arrays");
    report r(options);
    r.restore(saved(at_200.values(), arrays), 200);
    r.open(200);
    for (std::int64_t step = 201; step <= 240; ++step) r.step(step, {static_cast<double>(step)}, 1, 1);
    std::vector<std::int64_t> wanted{1};
    for (std::int64_t step = 10; step <= 240; step += 10) {
      wanted.push_back(step);
      if (step == 200) wanted.push_back(step);
    }
    CHECK(steps_in(folder / "metrics") == wanted);
    // TensorBoard is told to forget, in a file of its own.
    auto const files = names_in(folder / "events");
    REQUIRE(files.size() == 2);
    auto const events = event_reader::read(tx::io::read_text(folder.path / "events" / files[1]));
    CHECK(events.at(1).session == 1);
    CHECK(events.at(1).step == 201);
  }
}
