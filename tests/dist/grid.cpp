// A grid of ranks: rows that divide the products of a batch, each row with a batch of its own.
#include "heads.hpp"
#include "../io/temp_folder.hpp"

#include <tx/io/checkpoint_writer.hpp>
#include <tx/train/options.hpp>

#include <type_traits>

using namespace divided;

namespace {

// As one rank with a row's products alone and all batches.
template <class Step>
void check_grid(int ranks, std::vector<float> const& wanted, double epsilon = 1e-4, double margin = 2e-6) {
  auto const got = heads_by_grid<Step>(ranks);
  for (auto const& of_rank : got) CHECK(of_rank == got[0]);
  check_near(got[0], wanted, epsilon, margin);
}

}  // namespace

TEST_CASE("ranks of a grid are in a row and in a column each") {
  constexpr rank_grid grid{6, 2};
  STATIC_REQUIRE(grid.batches() == 3);
  STATIC_REQUIRE(grid.batch_of(3) == 1);
  STATIC_REQUIRE(grid.product_of(3) == 1);
  STATIC_REQUIRE(grid.subset(across::products, 3) == rank_subset{2, 1, 2});
  STATIC_REQUIRE(grid.subset(across::batches, 3) == rank_subset{1, 2, 3});
  STATIC_REQUIRE(grid.subset(across::all, 3) == rank_subset{0, 1, 6});
  STATIC_REQUIRE(grid.subset(across::batches, 3).number_of(3) == 1);
  STATIC_REQUIRE(!grid.subset(across::batches, 3).has(2));
  STATIC_REQUIRE(rank_subset{1, 2, 3}.within({1, 1, 2}) == rank_subset{3, 2, 2});
}

TEST_CASE("a grid of ranks trains as one with all batches, the same bits on all") {
  check_grid<step_of_heads<data_parallel<2>, tensor_parallel<2>>>(4, heads_by_one<step_of_heads<virtual_shards<2>>>());
  check_grid<step_of_heads<data_parallel<>, tensor_parallel<2>, clip_gradient>>(6, heads_by_one<step_of_heads<virtual_shards<3>, clip_gradient>>());
}

TEST_CASE("a grid of one row, and of one column") {
  auto const row = heads_by_grid<step_of_heads<data_parallel<>, tensor_parallel<2>>>(2);
  CHECK(row == heads_by_ranks<step_of_heads<tensor_parallel<2>>>(2));
  auto const column = heads_by_grid<step_of_heads<data_parallel<>, tensor_parallel<1>>>(2);
  CHECK(column == heads_by_grid<step_of_heads<data_parallel<2>>>(2));
}

TEST_CASE("a step of a grid is refused by other numbers of ranks, and by batches that differ within a row") {
  auto const said = [](auto const& f) {
    try {
      f();
    } catch (error const& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  using both = step_of_heads<data_parallel<2>, tensor_parallel<2>>;
  CHECK_THAT(said([] { heads_by_grid<both>(2); }), Catch::Contains("the step was compiled for 4 ranks; there are 2"));
  CHECK_THAT(said([] { heads_by_grid<both>(3); }), Catch::Contains("the step was compiled for 4 ranks; there are 3"));
  CHECK_THAT(said([] {
               on_ranks(4, [](dist::local& rank) {
                 executor<both, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
                 return run(numbers(96, rank.rank())).loss;
               });
             }),
             Catch::Contains("begins with other arguments than other ranks"));
}

TEST_CASE("a row of a grid writes a checkpoint in portions, which ranks that divide other things, or one, have exactly") {
  temp_folder folder;
  auto const path = folder / "checkpoints";
  using both = heads_by<adamw, data_parallel<2>, tensor_parallel<2>>;
  auto const all_of = [](auto& run) {
    std::vector<std::vector<float>> blocks;
    for (int k = 0; k <= run.states(); ++k) blocks.push_back(run.read(k));
    return blocks;
  };
  auto const wanted = on_ranks(4, [&](dist::local& rank) {
    executor<both, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    trained_heads(run, grid_of<both>(4).batch_of(rank.rank()));
    io::checkpoint_writer saves;
    saves.save(path, run, {}, {.portions = true});
    saves.wait();
    return all_of(run);
  });
  CHECK(io::newest_checkpoint(path).about.files.size() == 5);  // two ranks' parameters and states, and what is beside them
  auto const loaded_by = [&]<class Step>(std::type_identity<Step>, int ranks) {
    auto const got = on_ranks(ranks, [&](dist::local& rank) {
      executor<Step, distributed<cpu, dist::local>> run{seed(9), rank, {.threads = 1}};
      io::load_checkpoint(path, run);
      return all_of(run);
    });
    for (auto const& of_rank : got) CHECK(of_rank == wanted[0]);
  };
  loaded_by(std::type_identity<both>{}, 4);
  loaded_by(std::type_identity<heads_by<adamw, data_parallel<3>, zero<3>>>{}, 3);
  using alike = heads_by<adamw, data_parallel<>>;
  loaded_by(std::type_identity<alike>{}, 1);

  // Of ranks that divide nothing one writes all.
  on_ranks(2, [&](dist::local& rank) {
    executor<alike, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    io::save_checkpoint(folder / "alike", run, {}, {.portions = true});
    io::checkpoint_writer saves;
    saves.save(folder / "alike", run, {}, {.portions = true});
    saves.wait();
    return 0;
  });
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "alike"), {}) == 2);
  CHECK(io::newest_checkpoint(folder / "alike").about.files.contains("parameters.safetensors"));
}

TEST_CASE("subsets of ranks speak to each other alone, subsets of those too, and a failure reaches all") {
  constexpr rank_grid grid{6, 2};
  auto const sum_of = [](dist::local& some, float x) {
    some.all_reduce(std::span<float const>(&x, 1), std::span<float>(&x, 1));
    return x;
  };
  auto const sums = on_ranks(6, [&](dist::local& rank) {
    auto const column = rank.subset(grid.subset(across::batches, rank.rank()));
    auto const x = static_cast<float>(1 << rank.rank());
    float const of_column = sum_of(*column, x);
    if (column->rank() == 0) return of_column;
    return of_column + 100 * sum_of(*column->subset({1, 1, 2}), x);  // its last two
  });
  CHECK(sums == std::vector<float>{21, 42, 21 + 100 * 20, 42 + 100 * 40, 21 + 100 * 20, 42 + 100 * 40});

  CHECK_THROWS_WITH(on_ranks(4, [](dist::local& rank) {
                      auto const row = rank.subset(rank_grid{4, 2}.subset(across::products, rank.rank()));
                      if (rank.rank() == 3) throw value_error("no more batches");
                      row->barrier();
                      row->barrier();
                      return 0;
                    }),
                    "no more batches");
  CHECK_THROWS_WITH(on_ranks(2, [](dist::local& rank) { return rank.subset({1, 1, 1})->size(); }), Catch::Contains("rank 0 is none of those"));
}
