// Vocabularies that ranks do not divide evenly: the last ranks have fewer words, or none, and train what one rank does.
#include "words.hpp"
#include "../io/temp_folder.hpp"

#include <tx/io/checkpoint_writer.hpp>

using namespace divided;

namespace {

// Of four ranks three have three words, and one has none.
constexpr int few = 9;
using tied = word_model<few, 4, true>;
template <class... Options>
using stepped = step_of_words<tied, near_adamw, clip_gradient, Options...>;
using by_four = stepped<tensor_parallel<4>>;
template <class Step>
using running = executor<Step, distributed<cpu, dist::local>>;

auto all_of(auto& run) {
  std::vector<std::vector<float>> blocks;
  for (int k = 0; k <= run.states(); ++k) blocks.push_back(run.read(k));
  return blocks;
}

}  // namespace

TEST_CASE("ranks with three words and one with none train what one rank does, clipped and with decay") {
  check_words(words_by_ranks<few, by_four>(4), words_by_one<few, stepped<>>());
}

TEST_CASE("portions of many words that do not divide are multiples of eight") {
  CHECK(rows_of_rank(9, 4) == 3);
  CHECK(rows_of_rank(30'522, 2) == 15'261);
  CHECK(rows_of_rank(50'257, 4) == 12'568);
  CHECK(portion_of(50'257, rows_of_rank(50'257, 4), 3).count == 12'553);
}

TEST_CASE("each rank keeps room for as many words, and none has all logits or gathers the table") {
  CHECK(state_pieces<tied>(by_four::states.portions_of_parameters())[0].by[0].kept_rows == 3);
  graph g{};
  by_four::record(g);
  g = passes::simplify(g);
  int whole = 0, gathered = 0;
  for (int id = 0; id < g.size(); ++id) {
    whole += is_float(g.info(id).type) && (g.info(id).dims == extents(word_rows, few) || g.info(id).dims == extents(few, 4));
    gathered += g[id].op == &all_gather_info;
  }
  CHECK(whole == 0);
  CHECK(gathered == 2);  // the largest logit of each rank's, and the bias's gradient
}

TEST_CASE("checkpoints of ranks hold the words that there are") {
  bool const portions = GENERATE(false, true);
  CAPTURE(portions);
  temp_folder folder;
  auto const path = folder / "checkpoints";
  auto const wanted = on_ranks(4, [&](dist::local& rank) {
    running<by_four> run{seed(3), rank, {.threads = 1}};
    trained_words<few>(run);
    io::checkpoint_writer saves;
    saves.save(path, run, {}, {.writes = rank.rank() == 0, .portions = portions});
    saves.wait();
    return all_of(run);
  });
  auto const again = on_ranks(4, [&](dist::local& rank) {
    running<by_four> run{seed(9), rank, {.threads = 1}};
    io::load_checkpoint(path, run);
    return all_of(run);
  });
  executor<stepped<>, cpu> alone{seed(9), {.threads = 1}};
  io::load_checkpoint(path, alone);
  CHECK(all_of(alone) == wanted[0]);
  for (int r = 0; r < 4; ++r) CHECK(again[static_cast<std::size_t>(r)] == wanted[static_cast<std::size_t>(r)]);
  for (auto const& of_rank : wanted) CHECK(of_rank == wanted[0]);
}
