// Options of steps, and optimizers, beside vocabularies that ranks do not divide evenly.
#include "../words.hpp"
#include "../../io/temp_folder.hpp"

#include <tx/dist/overlap.hpp>
#include <tx/io/checkpoint_writer.hpp>
#include <tx/train/lamb.hpp>
#include <tx/train/novograd.hpp>

using namespace divided;

namespace {

constexpr int many = 29;
using tied = word_model<many, 3, true>;
template <class Optimizer, class... Options>
using by = step_of_words<tied, Optimizer, Options...>;

// As long a step as the tensor is, by the mean of squares: what stands behind the last word does not count.
struct by_size {
  static constexpr int states = 1;
  static constexpr bool whole_tensors = true;
  static constexpr var update(update_context& u) {
    u.state[0] = u.state[0] * 0.5 + u.gradient / (u.rms(u.gradient) + 1e-3);
    return u.parameter - u.state[0] * (u.rate * 0.1 * u.rms(u.parameter));
  }
};

template <class Optimizer, class... Options>
void check_by(double epsilon = 1e-5, double margin = 1e-6) {
  check_words(words_by_ranks<many, by<Optimizer, Options..., tensor_parallel<3>>>(3), words_by_one<many, by<Optimizer, Options...>>(), epsilon, margin);
}
auto all_of(auto& run) {
  std::vector<std::vector<float>> blocks;
  for (int k = 0; k <= run.states(); ++k) blocks.push_back(run.read(k));
  return blocks;
}

}  // namespace

TEST_CASE("optimizers that look at whole tensors count the words that there are") {
  check_by<lamb, gradient_norm>(1e-4, 1e-5);
  check_by<novograd>(1e-4, 1e-5);
  check_by<by_size>(1e-4, 1e-5);
}

TEST_CASE("halves, parts of a batch and of runs beside uneven words") {
  check_by<sgd, mixed<bf16>, clip_gradient>(2e-2, 2e-2);
  check_by<near_adamw, accumulate<2>>();
  check_by<near_adamw, accumulate_runs<2>, clip_gradient>();
  check_by<near_adamw, mixed<f16>, loss_scale>(2e-2, 2e-2);
  check_by<near_adamw, overlapped>();
}

TEST_CASE("zero<1> divides the states of uneven words once more, and checkpoints go to other grids") {
  using whole = by<near_adamw, clip_gradient, tensor_parallel<2>, data_parallel<2>>;
  using again = by<near_adamw, clip_gradient, tensor_parallel<2>, data_parallel<2>, zero<1>>;
  auto const wanted = words_by_ranks<many, whole>(4);
  check_words(wanted, words_by_one<many, by<near_adamw, clip_gradient, virtual_shards<2>>>());
  CHECK(words_by_ranks<many, again>(4) == wanted);

  bool const portions = GENERATE(false, true);
  CAPTURE(portions);
  temp_folder folder;
  auto const path = folder / "checkpoints";
  auto const saved = on_ranks(4, [&](dist::local& rank) {
    executor<again, distributed<cpu, dist::local>> run{seed(3), rank, {.threads = 1}};
    trained_words<many>(run, grid_of<again>(4).batch_of(rank.rank()));
    io::checkpoint_writer saves;
    saves.save(path, run, {}, {.writes = rank.rank() == 0, .portions = portions});
    saves.wait();
    return all_of(run);
  });
  auto const loaded_by = [&]<class Step>(std::type_identity<Step>, int ranks) {
    auto const got = on_ranks(ranks, [&](dist::local& rank) {
      executor<Step, distributed<cpu, dist::local>> run{seed(9), rank, {.threads = 1}};
      io::load_checkpoint(path, run);
      return all_of(run);
    });
    for (auto const& of_rank : got) CHECK(of_rank == saved[0]);
  };
  loaded_by(std::type_identity<again>{}, 4);
  loaded_by(std::type_identity<by<near_adamw, clip_gradient, tensor_parallel<3>>>{}, 3);
  loaded_by(std::type_identity<by<near_adamw, clip_gradient, data_parallel<2>, zero<3>>>{}, 2);
}
