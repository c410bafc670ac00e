// zero on a grid of ranks: those that have the same portion of a parameter, each for a batch of its own, divide its states once more, its gradient, or itself, and train the same bits.
#include "heads_on_grid.hpp"
#include "../io/temp_folder.hpp"

#include <tx/inspect/finite_guard.hpp>
#include <tx/io/checkpoint_writer.hpp>

#include <limits>
#include <string>
#include <type_traits>

using namespace divided;

TEST_CASE("ranks with the same portion divide its states, to the same bits") {
  auto const wanted = trained_grid<of_grid<data_parallel<2>>>(4);
  CHECK(trained_grid<divided_again>(4) == wanted);
}

TEST_CASE("checkpoints of portions of portions, and of the whole, are those that others have exactly") {
  bool const portions = GENERATE(false, true), of_parameters_too = GENERATE(false, true);
  CAPTURE(portions, of_parameters_too);
  temp_folder folder;
  auto const path = folder / "checkpoints";
  auto const saved_by = [&]<class Step>(std::type_identity<Step>) {
    return on_ranks(4, [&](dist::local& rank) {
      running<Step> run{seed(3), rank, {.threads = 1}};
      trained_heads(run, grid_of<Step>(4).batch_of(rank.rank()));
      io::checkpoint_writer saves;
      saves.save(path, run, {}, {.writes = rank.rank() == 0, .portions = portions});
      saves.wait();
      return all_blocks(run);
    });
  };
  auto const wanted = of_parameters_too ? saved_by(std::type_identity<parameters_too>{}) : saved_by(std::type_identity<divided_again>{});
  CHECK(wanted[0] != std::vector<std::vector<float>>(3, std::vector<float>(wanted[0][0].size())));
  for (auto const& of_rank : wanted) CHECK(of_rank == wanted[0]);
  auto const loaded_by = [&]<class Step>(std::type_identity<Step>, int ranks) {
    auto const got = on_ranks(ranks, [&](dist::local& rank) {
      running<Step> run{seed(9), rank, {.threads = 1}};
      io::load_checkpoint(path, run);
      return all_blocks(run);
    });
    for (auto const& of_rank : got) CHECK(of_rank == wanted[0]);
  };
  loaded_by(std::type_identity<divided_again>{}, 4);
  loaded_by(std::type_identity<parameters_too>{}, 4);
  loaded_by(std::type_identity<heads_by<adamw, data_parallel<>>>{}, 1);
}

TEST_CASE("a guard names what is not finite of a portion's portion") {
  auto const told = on_ranks(4, [](dist::local& rank) -> std::string {
    running<divided_again> run{seed(3), rank, {.threads = 1}};
    finite_guard const guard{run};
    auto all = run.read(1);
    if (rank.rank() == 3)  // the last rows of all that has any
      for (auto const& v : states_of<stacked_heads>(per::element))
        if (v.name == "body.1.back.weight") all[static_cast<std::size_t>(v.offset + v.info.count() - 1)] = std::numeric_limits<float>::quiet_NaN();
    run.write(all, 1);
    try {
      trained_heads(run, grid_of<divided_again>(4).batch_of(rank.rank()));
    } catch (error const& e) {
      return e.what();
    }
    return "";
  });
  CHECK_THAT(told[3], Catch::Contains("back.weight"));
}
