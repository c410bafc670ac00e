// A log of kernels: as many events as calls, with the work that each did, and a trace that a browser can read.
#include "../io/temp_folder.hpp"

#include <tx/backends/cpu.hpp>
#include <tx/expr/repeat.hpp>
#include <tx/inspect/profile.hpp>
#include <tx/io/chrome_trace.hpp>
#include <tx/nn/linear.hpp>
#include <tx/ops/sum.hpp>
#include <tx/ops/tanh.hpp>
#include <tx/run/executor.hpp>
#include <tx/step/function.hpp>
#include <tx/train/step.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace {

using namespace tx;

struct block {
  nn::linear<8, 8> dense;
  constexpr auto operator()(auto const& x) const { return tanh(dense(x)); }
};
struct net {
  repeat<3, block> layer;
  constexpr auto operator()(auto const& x) const { return layer(x); }
};
constexpr auto loss = [](net const& m, tensor<float, 16, 8> x) { return sum(m(x)); };
using step = train_step<net, loss, adamw>;

struct one_layer {
  nn::linear<8, 32> dense;
};
constexpr auto layer = [](one_layer const& m, tensor<float, dyn<16>, 8> x) { return tanh(m.dense(x)); };

// Calls of a region, those of the loops in it as often as they run.
template <class Program>
int calls_of(int loop) {
  int n = 0;
  exec::loop const& l = Program::loops[loop];
  for (int i = l.first; i < l.first + l.count; ++i) n += Program::instructions[i].kind == exec::instruction_kind::call ? 1 : Program::loops[Program::instructions[i].index].iterations * calls_of<Program>(Program::instructions[i].index);
  return n;
}

}  // namespace

TEST_CASE("a log has an event for each kernel that ran") {
  executor<step, cpu> run{seed(1)};
  std::vector<float> const x(16 * 8, 0.5f);
  exec::kernel_log log;
  run(x);
  run.profile(&log);
  auto const began = std::chrono::steady_clock::now();
  run(x);
  int const calls = calls_of<step::program<>>(0);
  REQUIRE(calls > 6);
  REQUIRE(log.events.size() == static_cast<std::size_t>(calls));
  run(x);
  REQUIRE(log.events.size() == static_cast<std::size_t>(2 * calls));
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - began;
  run.profile(nullptr);
  run(x);
  CHECK(log.events.size() == static_cast<std::size_t>(2 * calls));

  auto const kernels = profile_of<step>(log);
  REQUIRE(kernels.size() == log.events.size());
  CHECK(kernels.front().start == 0);
  std::int64_t forward = 0, last = 0;
  double seconds = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    CHECK(kernels[i].seconds >= 0);
    seconds += kernels[i].seconds;
    CHECK_FALSE(kernels[i].name.empty());
    if (i > 0) CHECK(kernels[i].start >= kernels[i - 1].start + kernels[i - 1].seconds - 1e-9);
    last = std::max(last, kernels[i].iteration);
    if (kernels[i].name.starts_with("matmul") && kernels[i].rows == 16) forward += 2 * 16 * 8 * 8;
  }
  CHECK(seconds > 0);  // all of it within the two runs
  CHECK(seconds <= took.count());
  CHECK(kernels.back().start + kernels.back().seconds <= took.count());
  CHECK(last == 2);
  CHECK(forward >= 2 * (3 + 2) * 2 * 16 * 8 * 8);  // forward in each of three blocks, to the input in two of them; two runs
  CHECK_THROWS_WITH((profile_of<function<layer, one_layer>>(log)), Catch::Contains("another program"));
}

TEST_CASE("a kernel's FLOPs and bytes are those of the rows that ran") {
  executor<function<layer, one_layer>, cpu> run{seed(1)};
  exec::kernel_log log;
  run.profile(&log);
  for (int const rows : {16, 5, 0}) {
    log.events.clear();
    run(std::vector<float>(static_cast<std::size_t>(rows * 8)));
    auto const kernels = profile_of<function<layer, one_layer>>(log);
    REQUIRE(kernels.size() == 1);
    CHECK(kernels[0].name == "matmul + add + tanh");
    CHECK(kernels[0].rows == rows);
    CHECK(kernels[0].flops == 2 * rows * 8 * 32 + 2 * rows * 32);
    CHECK(kernels[0].bytes == 4 * (rows * 8 + 8 * 32 + 32 + rows * 32));
  }
}

TEST_CASE("a trace is JSON with the kernels as complete events") {
  temp_folder const folder;
  auto const path = folder.path / "trace.json";
  executor<step, cpu> run{seed(1)};
  exec::kernel_log log;
  run.profile(&log);
  run(std::vector<float>(16 * 8, 0.5f));
  auto const kernels = profile_of<step>(log);
  io::write_trace(path, kernels);
  auto const trace = nlohmann::json::parse(io::read_text(path));
  auto const& events = trace.at("traceEvents");
  REQUIRE(events.size() == kernels.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    CHECK(events[i].at("ph") == "X");
    CHECK(events[i].at("name") == kernels[i].name);
    CHECK(events[i].at("ts").get<double>() == Approx(1e6 * kernels[i].start).margin(1e-2));
    CHECK(events[i].at("dur").get<double>() == Approx(1e6 * kernels[i].seconds).margin(1e-2));
    CHECK(events[i].at("args").at("flops") == kernels[i].flops);
    if (kernels[i].seconds > 0) CHECK(events[i].at("args").at("GFLOP/s").get<double>() == Approx(1e-9 * static_cast<double>(kernels[i].flops) / kernels[i].seconds).margin(1e-2).epsilon(1e-2));
  }
  CHECK_THROWS_AS(io::write_trace(folder.path / "none" / "trace.json", kernels), io_error);
}
