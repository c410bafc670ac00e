// Texts in shards of token ids, which may be larger than memory: written once, then packed into batches by a thread beside the steps. A run that is stopped
// half way goes on in the same place and ends in the same bits.
#include <tx/backends/cpu.hpp>
#include <tx/io/token_shard_writer.hpp>
#include <tx/text/packed_batch.hpp>
#include <tx/train/loop/loop.hpp>
#include <tx/train/loop/packed_texts.hpp>
#include <tx/train/loop/prepared.hpp>
#include <tx/tx.hpp>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <vector>

constexpr int vocabulary = 40, texts = 16, longest = 24, tokens = 192;
using batch = tx::text::packed_batch<texts, longest, tokens>;
using per_token = tx::tensor<tx::i32, tx::dyn<tokens>>;

// Which id follows which?
struct next_id {
  tx::nn::embedding<vocabulary, 16> words;
  tx::nn::linear<16, vocabulary> out;
  constexpr auto operator()(auto const& ids) const { return out(words(ids)); }
};
inline constexpr tx::label_options ends_count_not{.ignore_index = -1};
inline constexpr auto loss = [](next_id const& m, per_token ids, per_token next) { return tx::cross_entropy(m(ids), next, ends_count_not); };
using step = tx::train_step<next_id, loss, tx::adamw>;

// Each id is followed by thrice it and one, or, now and then, by any.
void write(std::filesystem::path const& folder) {
  tx::train::random_numbers random(1);
  tx::io::token_shard_writer out(folder, {.vocabulary = vocabulary});
  std::vector<tx::i32> text;
  for (int k = 0; k < 2000; ++k) {
    text.assign(2 + random.below(longest - 1), static_cast<tx::i32>(random.below(vocabulary)));
    for (std::size_t t = 1; t < text.size(); ++t)
      text[t] = random.below(20) == 0 ? static_cast<tx::i32>(random.below(vocabulary)) : (3 * text[t - 1] + 1) % vocabulary;
    out.add(text);
    out.end_document();
  }
  out.finish();
}

std::vector<tx::i32> labels_of(batch const& b) {
  std::vector<tx::i32> next(b.ids.begin() + 1, b.ids.end());
  next.push_back(-1);
  for (int t = 1; t <= b.texts(); ++t) next[static_cast<std::size_t>(b.offsets[static_cast<std::size_t>(t)] - 1)] = -1;
  return next;
}

// `stop_at`: the step behind which somebody presses Ctrl-C; none: -1. Returns the parameters, or nothing where too little was learned.
std::vector<float> train(std::filesystem::path const& folder, std::filesystem::path const& data, std::int64_t stop_at) {
  tx::executor<step, tx::cpu> run{tx::seed(0)};
  run.settings["learning_rate"] = 1e-2f;
  auto const shards = tx::io::token_shards::open(data);
  tx::train::prepared batches(tx::train::packed_texts<batch>(shards, {.seed = 3}), {.threads = 1, .ahead = 4});
  tx::train::loop loop(run, batches, {.folder = folder, .resume = true, .or_begin = true, .checkpoints = {.every = 100}});
  double last = 0;
  loop.run({.lasts = {.steps = 500}}, [&](tx::train::moment const& now) -> tx::train::step_told {
    if (now.step == stop_at) std::raise(SIGINT);
    batch const& b = batches.next();  // made while the last step ran
    last = static_cast<double>(static_cast<float>(run(b.ids, labels_of(b)).loss));
    return {last, {{"tokens", static_cast<double>(b.tokens())}}};
  });
  loop.finish();
  return last < 1 ? run.read() : std::vector<float>{};
}

int main() {
  std::filesystem::path const folder = "token_shards";  // where the program runs
  std::filesystem::remove_all(folder);
  write(folder / "data");
  auto const whole = train(folder / "whole", folder / "data", -1);
  bool was_stopped = false;
  try {
    train(folder / "cut", folder / "data", 250);
  } catch (tx::train::stopped const& s) {
    std::printf("%s\n", s.what());
    was_stopped = true;
  }
  auto const resumed = train(folder / "cut", folder / "data", -1);
  std::filesystem::remove_all(folder);
  std::printf("%s\n", whole == resumed ? "the same bits" : "other bits");
  return was_stopped && !whole.empty() && whole == resumed ? 0 : 1;
}
