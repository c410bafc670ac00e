// tensor_parallel beside pipeline beside data_parallel: three kinds of ranks, and checkpoints of what they keep.
#include "../../io/temp_folder.hpp"
#include "../spoken.hpp"

#include <tx/inspect/finite_guard.hpp>
#include <tx/io/checkpoint_writer.hpp>

#include <utility>

using namespace divided;

namespace {

using three_kinds = spoken<peel::none, adamw, accumulate<2>, data_parallel<2>, pipeline<2>, tensor_parallel<2>, gradient_norm, clip_gradient, zero<1>>;
template <class Step>
using running = executor<Step, distributed<cpu, dist::local>>;
template <class Step>
auto words_by(int ranks) {
  return on_ranks(ranks, [](dist::local& rank) {
    running<Step> run{seed(3), rank, {.threads = 1}};
    finite_guard const guard{run};  // which knows where everything lies
    return trained_words(run, grid_of<Step>(rank.size()).batch_of(rank.rank()));
  });
}

}  // namespace

TEST_CASE("three kinds of ranks, and states that batches divide once more") {
  using whole = spoken<peel::none, adamw, accumulate<2>, data_parallel<2>, pipeline<2>, tensor_parallel<2>, gradient_norm, clip_gradient>;
  CHECK(words_by<three_kinds>(8) == words_by<whole>(8));
  CHECK(three_kinds::memory.optimizer < whole::memory.optimizer);
  CHECK(three_kinds::memory.parameters == whole::memory.parameters);
}

TEST_CASE("checkpoints of such ranks are those that others have, and a function scores beside the step") {
  bool const portions = GENERATE(false, true);
  CAPTURE(portions);
  static constexpr auto scores = [](speaker_of<peel::none> const& m, tensor<i32, texts, places> ids) {
    auto const last = m.body(m.first(embedding(m.table, reshape<texts, places, 1>(ids))), tanh(m.bias) * 0.5f);
    return matmul(reshape<texts, hidden>(slice<1, 0, 1>(last)), transpose<1, 0>(m.table));
  };
  temp_folder folder;
  auto const path = folder / "checkpoints";
  std::vector<int> const ids{1, 5, 7, 11, 0, 2};
  auto const all_of = [](auto& run) {
    std::vector<std::vector<float>> blocks;
    for (int k = 0; k <= run.states(); ++k) blocks.push_back(run.read(k));
    return blocks;
  };
  auto const wanted = on_ranks(8, [&](dist::local& rank) {
    running<three_kinds> run{seed(3), rank, {.threads = 1}};
    trained_words(run, grid_of<three_kinds>(8).batch_of(rank.rank()));
    io::checkpoint_writer saves;
    saves.save(path, run, {}, {.writes = rank.rank() == 0, .portions = portions});
    saves.wait();
    running<function<scores, speaker_of<peel::none>, kept_as<three_kinds>>> score{run, {.threads = 1}};
    auto const& v = score(ids).value;
    return std::pair(all_of(run), std::vector<float>(v.begin(), v.end()));
  });
  for (auto const& of_rank : wanted) CHECK(of_rank == wanted[0]);
  auto const got = on_ranks(8, [&](dist::local& rank) {
    running<three_kinds> run{seed(9), rank, {.threads = 1}};
    io::load_checkpoint(path, run);
    return all_of(run);
  });
  for (auto const& of_rank : got) CHECK(of_rank == wanted[0].first);
  executor<spoken<peel::none, adamw, clip_gradient>, cpu> alone{seed(9), {.threads = 1}};
  io::load_checkpoint(path, alone);
  CHECK(alone.read() == wanted[0].first[0]);
  executor<function<scores, speaker_of<peel::none>>, cpu> score{alone, {.threads = 1}};
  auto const& v = score(ids).value;
  check_near(wanted[0].second, {v.begin(), v.end()}, 1e-5, 1e-6);
}
