#include "../command_line/options.hpp"
#include "../command_line/processes.hpp"
#include "commands.hpp"
#include "engine.hpp"
#include "texts.hpp"

#include <tx/io/parameters.hpp>
#include <tx/io/standard_streams.hpp>
#include <tx/train/loop/loop.hpp>
#include <tx/train/loop/run_folder.hpp>

#include <numbers>
#include <optional>

namespace gpt {
namespace {

using command_line::help_text, command_line::option, command_line::options;

constexpr int dev_batches = 16;

// Bits that the model needs for each byte of the dev text.
double bits_per_byte(trainer& run, texts const& dev) {
  std::vector<tx::i32> bytes(batch * (config::context + 1));
  double sum = 0;
  for (int k = 0; k < dev_batches; ++k) {
    dev.draw(0, k, bytes);
    sum += run.foretell(bytes);
  }
  return sum / dev_batches / std::numbers::ln2;
}

std::vector<option> train_options() {
  return {{"text", "FILE", "what it learns from, any bytes"},
          {"dev", "FILE", "a text that it does not learn from, to see how well it foretells"},
          {"out", "DIR", "the model's folder, which must not exist or be empty"},
          {"steps", "N", "steps of " + std::to_string(batch) + " pieces of text, of each process where there are several (default: 2000)"},
          {"seconds", "T", "as many steps as take about so long, at most --steps; not the same on another machine"},
          {"rate", "R", "learning rate at its highest (default: 0.002)"},
          {"seed", "S", "same seed, options and text: same model, bit by bit (default: 1)"},
          {"save-every", "N", "steps between checkpoints (default: 200)"},
          command_line::device_option,
          command_line::threads_option,
          {"resume", "", "go on from the newest checkpoint in DIR, with the same options and text"},
          {"help", "", "print this"}};
}

// A piece of the text is a function of the seed and the step, so all there is to save is which text it was.
struct place {
  std::string identity;
  void save(tx::train::to_save& out) const { out.put("text", identity); }
  void restore(tx::train::saved const& in) const {
    if (in.value<std::string>("text") != identity)
      throw tx::value_error("--text is not what the saved run had. FIX: resume with the same text, or train into another --out");
  }
};

// What each of the processes does.
void train_model(options const& given, command_line::processes& all_of_us) {
  texts const text(given.text("text")), dev(given.text("dev"));
  std::filesystem::path const out = given.text("out");
  tx::train::phase const all{.lasts = {.steps = given.integer("steps", 2000, 1), .seconds = given.number("seconds", 0, 0, 1e9), .fixed = true}};
  std::int64_t const save_every = given.integer("save-every", 200, 1);
  auto const seed = static_cast<std::uint64_t>(given.integer("seed", 1, 0));
  bool const resume = given.has("resume");
  if (all_of_us.several() && given.has("seconds")) throw tx::value_error("--seconds: processes have clocks of their own, and all take the same steps. FIX: --steps");
  auto const made = make_trainer(command_line::engine_of(given, seed));
  trainer& run = *made;
  std::optional<tx::train::run_folder> folder;
  if (all_of_us.first())
    folder.emplace(out, tx::train::run_folder_options{.what = resume ? tx::train::existing::resume : tx::train::existing::refuse, .refusal = "is there already. FIX: another --out, or --resume"});

  double const rate = given.number("rate", 2e-3, 0, 1);
  place where{text.identity()};
  tx::train::loop_options o{.resume = resume, .checkpoints = {.folder = checkpoints_in(out), .every = save_every}, .report = {.loss = "bits/byte"},
                            .common = {{"--rate", std::to_string(rate)}, {"--seed", std::to_string(seed)}}, .resume_by = "--resume"};
  if (all_of_us.several()) all_of_us.check_same({{"--text", text.identity()}, {"--steps", std::to_string(all.lasts.steps)}});
  all_of_us.share(o);
  tx::train::loop loop(run, where, o);

  std::vector<tx::i32> bytes(batch * (config::context + 1));
  loop.run(all, [&](tx::train::moment const& now) -> tx::train::step_told {
    text.draw(run.seed(), now.step, bytes, static_cast<std::uint32_t>(batch * all_of_us.number()));
    return {run.train(bytes, {rate, now.steps}) / std::numbers::ln2, {{"bytes", static_cast<double>(batch * config::context * all_of_us.count())}}};
  });
  auto const result = loop.finish();
  if (!all_of_us.first()) return;
  auto learned = run.read();
  tx::io::save_parameters(weights_in(out), run.tensors_of(learned));
  char line[160];
  std::snprintf(line, sizeof line, "%.3f bits for each byte of a text it has not seen; %.1f s%s\n", bits_per_byte(run, dev), result.seconds,
                all_of_us.communication_in(result.seconds).c_str());
  tx::io::print(line);
}

}  // namespace

void train_command(std::span<std::string const> arguments) {
  auto const known = train_options();
  options const given(arguments, known);
  if (given.has("help"))
    return tx::io::print(help_text("usage: gpt train --text FILE --dev FILE --out DIR [option...]\n"
                                   "       mpirun -n N gpt train --text FILE --dev FILE --out DIR [option...]    N processes train one model, each with a batch of its own\n",
                                   known));
  command_line::processes all_of_us;
  all_of_us.together([&] { train_model(given, all_of_us); });
}

}  // namespace gpt
