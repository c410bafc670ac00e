// Ranks that divide states, gradients and parameters: they train the bits of one rank with all shards, keep what is said, and go on from each other's checkpoints.
#include "../io/temp_folder.hpp"
#include "divided.hpp"

#include <tx/inspect/finite_guard.hpp>
#include <tx/io/checkpoint.hpp>
#include <tx/train/loop/loop.hpp>

#include <limits>
#include <string>
#include <tuple>

using namespace divided;

namespace {

// The programs of check_stages<float, 3, adamw>(…, clip_gradient, gradient_norm).
template <class... Division>
using stepping = step<float, adamw, Division..., clip_gradient, gradient_norm>;
template <int Stage>
using divided_by_three = stepping<data_parallel<3>, zero<Stage>>;
template <class Step>
using running = executor<Step, distributed<cpu, dist::local>>;

}  // namespace

TEST_CASE("three ranks that divide states, gradients and parameters train the same bits") { check_stages<float, 3, adamw>(std::integer_sequence<int, 1, 2, 3>{}, clip_gradient{}, gradient_norm{}); }

TEST_CASE("a program that scores takes the parameters that ranks divide") {
  using scores = function<loss<float>, net<float>, data_parallel<3>, zero<3>>;
  using scores_whole = function<loss<float>, net<float>>;
  using of_two = function<loss<float>, net<float>, data_parallel<2>, zero<3>>;
  auto const told = on_ranks(3, [](dist::local& rank) {
    running<divided_by_three<3>> run{seed(3), rank, {.threads = 1}};
    trained_steps(run, rank.rank());
    running<scores> score{run, {.threads = 1}};
    executor<scores_whole, cpu> whole{seed(3), {.threads = 1}};
    whole.write(run.read());
    auto const x = batch<float>(rank.rank(), 5, rows);  // of each rank its own
    int refused = 0;
    try {
      running<scores_whole> other{run};
    } catch (value_error const&) {
      ++refused;
    }
    try {
      running<of_two> other{run};
    } catch (value_error const&) {
      ++refused;
    }
    return std::tuple{score(x).value, whole(x).value, refused};
  });
  for (auto const& [divided, whole, refused] : told) {
    CHECK(divided == whole);
    CHECK(refused == 2);
  }
  parameter_block<net<float>, cpu> const portions{seed(3), divided_by_three<3>::states};
  CHECK_THROWS_AS((executor<scores_whole, cpu>{portions}), value_error);
  CHECK(std::get<0>(told[0]) != std::get<0>(told[1]));
}

TEST_CASE("a checkpoint of ranks is that of one, and others go on from it to the same bits") {
  bool const portions = GENERATE(false, true);  // which each rank writes of its own
  CAPTURE(portions);
  temp_folder folder;
  auto const path = folder / "checkpoints";
  dist::single alone;
  using all_shards = stepping<virtual_shards<3>>;
  executor<all_shards, distributed<cpu, dist::single>> stretch{seed(3), alone, {.threads = 1}};
  auto wanted = trained_steps(stretch, 0, 6);

  on_ranks(3, [&](dist::local& rank) {
    running<divided_by_three<3>> run{seed(3), rank, {.threads = 1}};
    trained_steps(run, rank.rank(), 3);
    io::save_checkpoint(path, run, {{"batch", std::int64_t{3}}}, {.writes = rank.rank() == 0, .portions = portions});
    return 0;
  });
  auto const files = portions ? 8 : 4;
  CHECK(std::distance(std::filesystem::directory_iterator(path / "checkpoint-000003"), {}) == files);
  auto const goes_on = [&](auto& run, int rank) {
    io::load_checkpoint(path, run);
    return trained_steps(run, rank, 3, 3);
  };
  auto const others = on_ranks(3, [&](dist::local& rank) {
    running<divided_by_three<1>> run{seed(9), rank, {.threads = 1}};
    return goes_on(run, rank.rank());
  });
  wanted.told.erase(wanted.told.begin(), wanted.told.begin() + 6);  // loss and norm of three steps
  check_same<net<float>>(others, wanted, "zero<1>");
  executor<all_shards, distributed<cpu, dist::single>> one{seed(9), alone, {.threads = 1}};
  check_same<net<float>>({goes_on(one, 0)}, wanted, "one rank");
}

TEST_CASE("what ranks divide is not read as if it were whole") {
  auto const wrong = on_ranks(3, [](dist::local& rank) {
    running<divided_by_three<2>> run{seed(3), rank, {.threads = 1}};
    std::string said;
    auto const refuses = [&](char const* what, auto const& does) {
      try {
        does();
        said += what;
      } catch (error const&) {
      }
    };
    auto moments = run.read(1);
    if (moments.size() != static_cast<std::size_t>(layout<net<float>>::trained)) said += "read has another size; ";
    if (run.elements(1).size() != static_cast<std::size_t>(kept_elements<net<float>>(portioning::of_rows(3)))) said += "a portion has another size; ";
    if (run.tensors().size() != parameters_of<net<float>>().size()) said += "parameters are missing; ";
    refuses("tensors were handed out; ", [&] { run.tensors(1); });
    refuses("too few elements were taken; ", [&] { run.write(std::span(moments).first(moments.size() - 1), 1); });
    for (std::size_t i = 0; i < moments.size(); ++i) moments[i] = static_cast<float>(i % 1000);
    run.write(moments, 1);
    auto const back = run.read(1);
    for (auto const& v : states_of<net<float>>(per::element))
      for (std::int64_t e = v.offset; e < v.offset + v.info.count(); ++e)
        if (back[static_cast<std::size_t>(e)] != static_cast<float>(e % 1000)) said += v.name;
    return said;
  });
  for (auto const& said : wrong) CHECK(said == "");
  CHECK(kept_elements<net<float>>(portioning::of_rows(3)) < layout<net<float>>::trained);
  CHECK_THROWS_AS(on_ranks(2, [](dist::local& rank) { return running<divided_by_three<2>>{seed(3), rank}.steps_run(); }), value_error);
}

TEST_CASE("a guard names what is not finite of a rank's portions") {
  auto const told = on_ranks(3, [](dist::local& rank) -> std::string {
    running<divided_by_three<3>> run{seed(3), rank, {.threads = 1}};
    finite_guard const guard{run};
    auto all = run.read(1);
    for (auto const& v : states_of<net<float>>(per::element))
      if (v.name == "second" && rank.rank() == 2) all[static_cast<std::size_t>(v.offset + v.info.count() - 1)] = std::numeric_limits<float>::quiet_NaN();
    run.write(all, 1);
    try {
      run(batch<float>(0, rank.rank() * rows, rows));
    } catch (not_finite_error const& e) {
      return e.what();
    } catch (dist::rank_error const&) {
      return "another rank";
    }
    return "";
  });
  CHECK_THAT(told[2], Catch::Contains("second"));
}

TEST_CASE("ranks that begin with other vectors, which none of them divides, are told") {
  CHECK_THROWS_AS(on_ranks(3, [](dist::local& rank) {
    running<divided_by_three<3>> run{seed(3), rank, {.threads = 1}};
    auto all = run.read();
    for (auto const& v : parameters_of<net<float>>())
      if (v.name == "scale" && rank.rank() == 1) all[static_cast<std::size_t>(v.offset)] += 1;
    run.write(all);
    return run(batch<float>(0, rank.rank() * rows, rows)).loss;
  }), value_error);
}

TEST_CASE("a loop of ranks that divide a run goes by what the first has measured, and saves with all of them") {
  bool const portions = GENERATE(false, true);
  CAPTURE(portions);
  temp_folder folder;
  auto const best = on_ranks(3, [&](dist::local& rank) {
    running<divided_by_three<3>> run{seed(3), rank, {.threads = 1}};
    train::loop_options o;
    o.report.line = false;
    o.checkpoints = {.folder = folder / "checkpoints", .every = 2, .best = true, .background = rank.rank() != 2, .portions = portions, .reads_only = rank.rank() != 0};
    int measured = 0;
    o.validate = [&] { return rank.rank() == 0 ? 1.0 * ++measured : 7.0; };  // by the others' measure it never becomes better
    train::loop l(run, o);
    l.run({{.steps = 5}, {.steps = 2}}, [&](train::moment const& now) -> train::step_told {
      return {static_cast<double>(run(batch<float>(static_cast<int>(now.step), rank.rank() * rows, rows)).loss)};
    });
    return l.finish().best_step;
  });
  CHECK(best == std::vector<std::int64_t>(3, best[0]));
  executor<stepping<virtual_shards<3>>, cpu> one{seed(9), {.threads = 1}};
  auto const from = io::load_checkpoint(folder / "checkpoints", one);
  CHECK(from.step == 5);
  CHECK(std::filesystem::exists(from.path / "optimizer-00003-of-00003.safetensors") == portions);
}
