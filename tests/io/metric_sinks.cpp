#include <tx/io/metric_sinks.hpp>
#include <tx/io/metrics.hpp>
#include <tx/io/progress.hpp>
#include <tx/io/tensorboard.hpp>

#include <catch2/catch.hpp>

#include "event_reader.hpp"
#include "temp_folder.hpp"

namespace {

struct own_sink {
  double& sum;
  explicit own_sink(double& to) : sum(to) {}
  void write(std::int64_t step, std::span<tx::io::metric const> values) {
    for (auto const& m : values) sum += static_cast<double>(step) * m.number.value_or(0);
  }
};
static_assert(tx::io::metric_sink<own_sink> && tx::io::metric_sink<tx::io::metric_sinks>);
static_assert(!tx::io::metric_sink<int>);

}  // namespace

TEST_CASE("what is written goes to all sinks") {
  temp_folder folder;
  double sum = 0;
  {
    tx::io::metric_sinks sinks;
    sinks.write(0, {{"loss", 1}});  // to none
    sinks.emplace<tx::io::metrics_log>(folder / "m.jsonl");
    auto const& events = sinks.emplace<tx::io::event_file>(folder / "events");
    sinks.emplace<own_sink>(sum);
    tx::io::progress_options o;
    tx::io::file_handle const screen(folder / "screen", O_WRONLY | O_CREAT, "write");
    o.fd = screen.get();
    o.live = false;
    sinks.emplace<tx::io::progress>(3, 0, o);
    sinks.write(3, {{"loss", 0.5}, {"phase", "train"}});
    auto const read = event_reader::read(tx::io::read_text(events.path()));
    REQUIRE(read.size() == 2);
    CHECK(read[1].step == 3);
    CHECK(read[1].scalars == std::map<std::string, float>{{"loss", 0.5f}});
    CHECK(tx::io::read_text(folder / "screen") == "step 3/3  loss 0.5  phase train\n");
  }
  CHECK(tx::io::read_text(folder / "m.jsonl") == "{\"step\":3,\"loss\":0.5,\"phase\":\"train\"}\n");
  CHECK(sum == 1.5);
}

TEST_CASE("a sink that throws keeps those behind it from the step, not from the next") {
  temp_folder folder;
  double before = 0, behind = 0;
  tx::io::metric_sinks sinks;
  sinks.emplace<own_sink>(before);
  sinks.emplace<tx::io::metrics_log>("/dev/full");
  sinks.emplace<own_sink>(behind);
  CHECK_THROWS_AS(sinks.write(1, {{"a", 1}}), tx::io_error);
  CHECK(before == 1);
  CHECK(behind == 0);
}
