// zero<1> on a grid of ranks: those that keep the same portion of a parameter, each for a batch of its own, divide its states once more, and train the same bits.
#include "heads.hpp"
#include "../io/temp_folder.hpp"

#include <tx/inspect/finite_guard.hpp>
#include <tx/io/checkpoint_writer.hpp>
#include <tx/train/lion.hpp>

#include <limits>
#include <string>
#include <type_traits>
#include <utility>

using namespace divided;

namespace {

template <class... Options>
using of_grid = heads_by<adamw, tensor_parallel<2>, Options...>;
using divided_again = of_grid<data_parallel<2>, zero<1>>;
template <class Step>
using running = executor<Step, distributed<cpu, dist::local>>;

// Of matrices that are large beside their vectors.
struct fed_on {
  nn::linear<64, 256> in;
  nn::linear<256, 64> out;
  constexpr auto operator()(tensor<float, 8, 64> const& x) const { return x + out(gelu(in(x))); }
};
struct fed_on_twice {
  repeat<2, fed_on> body;
};
constexpr auto loss_of_fed = [](fed_on_twice const& m, tensor<float, 8, 64> x) {
  auto const y = m.body(x);
  return mean(y * y);
};
template <class... Options>
using fed = train_step<fed_on_twice, loss_of_fed, adamw, Options...>;

auto all_of(auto& run) {
  std::vector<std::vector<float>> blocks;
  for (int k = 0; k <= run.states(); ++k) blocks.push_back(run.read(k));
  return blocks;
}
// What ranks are told, and all parameters and states.
template <class Step>
auto trained_grid(int ranks) {
  return on_ranks(ranks, [](dist::local& rank) {
    running<Step> run{seed(3), rank, {.threads = 1}};
    auto told = trained_heads(run, grid_of<Step>(rank.size()).batch_of(rank.rank()));
    return std::pair(std::move(told), all_of(run));
  });
}
template <class Divided, class Whole>
void check_alike(int ranks) {
  auto const wanted = trained_grid<Whole>(ranks);
  CHECK(trained_grid<Divided>(ranks) == wanted);
}

}  // namespace

TEST_CASE("ranks with the same portion divide its states, to the same bits") {
  check_alike<divided_again, of_grid<data_parallel<2>>>(4);
  check_alike<of_grid<data_parallel<3>, zero<1>, clip_gradient, accumulate<2>>, of_grid<data_parallel<3>, clip_gradient, accumulate<2>>>(6);
  check_alike<heads_by<lion, tensor_parallel<2>, data_parallel<5>, zero<1>, loss_scale, mixed<f16>>, heads_by<lion, tensor_parallel<2>, data_parallel<5>, loss_scale, mixed<f16>>>(10);
}

TEST_CASE("a rank's states are a part of its portion of the parameters") {
  using whole = fed<tensor_parallel<2>, data_parallel<4>>;
  using in_parts = fed<tensor_parallel<2>, data_parallel<4>, zero<1>>;
  STATIC_REQUIRE(in_parts::memory.parameters == whole::memory.parameters);
  constexpr std::int64_t matrices = 2 * 64 * 256, vectors = 2 * (256 + 64);  // of which vectors are kept whole, in rows of 1,024
  constexpr std::int64_t of_adam = 2 * std::int64_t{sizeof(float)};
  CHECK(whole::memory.optimizer >= of_adam * (matrices / 2 * 2));
  CHECK(in_parts::memory.optimizer >= of_adam * (matrices / 2 * 2 / 4));
  CHECK(in_parts::memory.optimizer <= of_adam * (matrices / 2 * 2 / 4 + vectors + 1024));
}

TEST_CASE("checkpoints of portions of portions, and of the whole, are those that others have exactly") {
  bool const portions = GENERATE(false, true);
  CAPTURE(portions);
  temp_folder folder;
  auto const path = folder / "checkpoints";
  auto const wanted = on_ranks(4, [&](dist::local& rank) {
    running<divided_again> run{seed(3), rank, {.threads = 1}};
    trained_heads(run, grid_of<divided_again>(4).batch_of(rank.rank()));
    io::checkpoint_writer saves;
    saves.save(path, run, {}, {.writes = rank.rank() == 0, .portions = portions});
    saves.wait();
    return all_of(run);
  });
  CHECK(wanted[0] != std::vector<std::vector<float>>(3, std::vector<float>(wanted[0][0].size())));
  for (auto const& of_rank : wanted) CHECK(of_rank == wanted[0]);
  auto const loaded_by = [&]<class Step>(std::type_identity<Step>, int ranks) {
    auto const got = on_ranks(ranks, [&](dist::local& rank) {
      running<Step> run{seed(9), rank, {.threads = 1}};
      io::load_checkpoint(path, run);
      return all_of(run);
    });
    for (auto const& of_rank : got) CHECK(of_rank == wanted[0]);
  };
  loaded_by(std::type_identity<divided_again>{}, 4);
  loaded_by(std::type_identity<of_grid<data_parallel<3>, zero<1>>>{}, 6);
  loaded_by(std::type_identity<heads_by<adamw, data_parallel<3>, zero<3>>>{}, 3);
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
