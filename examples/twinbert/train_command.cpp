#include "batches.hpp"
#include "commands.hpp"
#include "folder.hpp"
#include "../command_line/options.hpp"
#include "../command_line/processes.hpp"
#include "trainer.hpp"

#include <tx/dist/net/same_on_all.hpp>
#include <tx/io/checkpoint_folder.hpp>
#include <tx/io/metrics.hpp>
#include <tx/io/standard_streams.hpp>
#include <tx/io/writable.hpp>
#include <tx/train/loop/run_folder.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace twinbert {
namespace {

using command_line::help_text, command_line::option, command_line::options;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::vector<option> train_options() {
  auto const& d = compiled();
  return {
      {"pairs", "FILE", "training pairs: query<TAB>document[<TAB>label]"},
      {"out", "DIR", "the model's folder, which must not exist or be empty"},
      {"force", "", "write over the model in DIR"},
      {"set-aside", "", "rename an existing DIR to DIR.1 (or .2, ...) first"},
      {"dev", "FILE", "validation pairs (default: 1 of 50 training pairs, at most 1000)"},
      {"seed", "S", "same seed, options and data: same model, bit by bit, on any number of threads (default: 1)"},
      {"steps", "N",
       "steps of the whole model (default: " + std::to_string(d.steps) + "; without layers that of --bag-steps)"},
      {"bag-steps", "N", "steps of the words' vectors alone before (default: " + std::to_string(d.bag_steps) + ")"},
      {"epochs", "N", "as many steps as see all pairs N times, in place of --steps"},
      {"seconds", "T", "steps for so long, in place of --steps; not reproducible"},
      {"layers", "N",
       std::to_string(d.layers) + ", or 0: the model without its encoder (default: " + std::to_string(d.layers) + ")"},
      {"rate", "R", "learning rate at its highest (default: " + number(d.rate) + ")"},
      {"bag-word-rate", "F",
       "factor of the rate for the table of words, before --steps (default: " + number(d.bag_word_rate) + ")"},
      {"word-rate", "F", "the same, in --steps (default: " + number(d.word_rate) + ")"},
      {"warmup", "SHARE", "share of the steps before the full rate (default: " + number(d.warmup) + ")"},
      {"decay", "W", "weight decay of the encoder (default: 0.01)"},
      {"word-decay", "W", "weight decay of the table of words (default: " + number(d.word_decay) + ")"},
      {"cloze", "P", "of pairs with a document of over 12 words, the share whose query becomes a passage of it (default: " + number(d.cloze) + ")"},
      {"group", "N", "similar pairs beside each other in a batch (default: " + std::to_string(d.group) + ")"},
      {"word-dropout", "P", "share of words that a step does not see (default: 0)"},
      {"dropout", "P", "(default: " + number(d.dropout) + ")"},
      {"clip", "NORM", "the gradient's norm at most (default: 1)"},
      {"vocabulary", "N", "entries to learn (default: " + std::to_string(d.vocabulary) + ", the most there may be)"},
      {"validations", "N", "in the last half of the steps (default: 2)"},
      {"save-every", "N", "save the state after every N steps (default: at Ctrl-C and SIGTERM alone)"},
      {"check-ranks", "N", "of several processes: compare parameters and optimizer states after every N steps, and end where they differ"},
      {"profile", "FILE", "write a Chrome trace of one step's kernels, with FLOPs, bytes and rates"},
      {"tensorboard", "", "write an event file for TensorBoard into DIR/events, beside metrics.jsonl"},
      {"resume", "", "go on from the state saved in DIR, with the same options and files; --threads and --device may differ"},
      {"threads", "N", "(default: as many as the machine runs at once)"},
      command_line::device_option,
      {"help", "", "print this"}};
}

// Keeps 1 of 50 pairs back, by the seed alone.
std::vector<tx::text::pair> hold_out(std::vector<tx::text::pair>& pairs, std::uint64_t seed) {
  tx::train::random_numbers random(seed ^ 0x686f6c64u);
  std::size_t const count = std::min<std::size_t>(1000, pairs.size() / 50);
  std::vector<tx::text::pair> held;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t const at = random.below(pairs.size());
    held.push_back(std::move(pairs[at]));
    pairs.erase(pairs.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return held;
}

tokenizer learn_vocabulary(std::span<tx::text::pair const> pairs, int size) {
  std::vector<std::string> texts;
  for (auto const& p : pairs) {
    texts.push_back(p.query);
    texts.push_back(p.document);
  }
  return tokenizer::learn(compiled(), texts, size);
}

std::string checksum(std::span<tx::text::pair const> pairs) {
  tx::io::crc64 sum;
  for (auto const& p : pairs) {
    for (std::string_view const text : {std::string_view(p.query), std::string_view(p.document)}) {
      sum.add(text);
      sum.add(std::string_view("\n"));
    }
    sum.add(std::as_bytes(std::span(&p.label, 1)));
  }
  return std::to_string(sum.value());
}

// What bears on the result, option by option. (--epochs is in the steps.)
std::map<std::string, std::string> in_common(training_options const& o, std::span<tx::text::pair const> pairs,
                                             std::span<tx::text::pair const> dev, std::string const& vocabulary) {
  tx::io::metric const values[] = {
      {"seed", o.seed},
      {"bag-steps", o.bag_steps},
      {"steps", o.steps},
      {"seconds", o.seconds},
      {"validations", o.validations},
      {"rate", o.rate},
      {"bag-word-rate", o.bag_word_rate},
      {"word-rate", o.word_rate},
      {"warmup", o.warmup},
      {"decay", o.decay},
      {"word-decay", o.word_decay},
      {"cloze", o.augment.cloze},
      {"word-dropout", o.augment.word_dropout},
      {"group", o.group},
      {"dropout", o.dropout},
      {"clip", o.clip},
  };
  std::map<std::string, std::string> all{{"pairs", checksum(pairs)},
                                         {"dev", checksum(dev)},
                                         {"vocabulary", std::to_string(tx::io::sum_file(vocabulary).crc64)}};
  for (auto const& v : values) all[v.key] = v.json;
  std::map<std::string, std::string> by_option;
  for (auto const& [key, value] : all) by_option["--" + key] = value;
  return by_option;
}

void remove_events(std::filesystem::path const& folder) {
  std::error_code none;
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator(folder, none))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) files.push_back(entry.path());
  for (auto const& file : files) std::filesystem::remove(file);
}

// A trace is not to be written over the data, nor over what the run itself writes.
void keep_from(std::string const& trace, std::string const& out, std::vector<std::string> others) {
  for (std::string const& name : model_files(compiled())) others.push_back(out + '/' + name);
  std::error_code unknown;
  auto const place = [&](std::string const& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path), unknown);
  };
  for (std::string const& other : others)
    if (place(trace) == place(other)) throw tx::value_error("--profile " + trace + " would be written over " + other + ". FIX: a file of its own");
}

// What each of the processes does.
void train_model(options const& given, command_line::processes& ranks) {
  auto const& d = compiled();
  bool const first = ranks.first();
  training_options o;
  o.seed = static_cast<std::uint64_t>(given.integer("seed", 1, 0));
  o.threads = ranks.threads(static_cast<int>(given.integer("threads", 0, 0, 1024)));
  if (ranks.several()) {
    if (given.has("seconds")) throw tx::value_error("--seconds: processes have clocks of their own, and all take the same steps. FIX: --steps");
    o.share = {ranks.number(), ranks.count()};
    o.from_first = [&](double value) { return ranks.from_first(value); };
    o.loop.agreed = [&](int signal) { return ranks.agreed(signal); };
    o.check_every = given.integer("check-ranks", 0, 1);
    o.check_same = [&](std::int64_t step, std::uint64_t sum) { tx::dist::check_same(ranks.all(), sum, "parameters or states after step " + std::to_string(step)); };
  } else if (given.has("check-ranks")) {
    throw tx::value_error("--check-ranks: of several processes. FIX: start them, as mpirun -n 2 does, or leave it out");
  }
  auto const layers = given.integer("layers", d.layers, 0);
  if (layers != 0 && layers != d.layers)
    throw tx::value_error("--layers is " + std::to_string(d.layers) +
                          " or 0; other models are other programs, see tx_add_twinbert");
  o.layers = layers != 0;
  o.rate = given.number("rate", d.rate, 0, 1);
  o.word_rate = given.number("word-rate", d.word_rate, 0, 1e6);
  o.bag_word_rate = given.number("bag-word-rate", d.bag_word_rate, 0, 1e6);
  o.warmup = given.number("warmup", d.warmup, 0, 0.99);
  o.decay = given.number("decay", 0.01, 0, 1);
  o.dropout = given.number("dropout", d.dropout, 0, 0.9);
  o.word_decay = given.number("word-decay", d.word_decay, 0, 1);
  o.augment = {given.number("cloze", d.cloze, 0, 1), given.number("word-dropout", 0, 0, 0.9)};
  o.group = static_cast<int>(given.integer("group", d.group, 1, d.bag_batch));
  o.clip = given.number("clip", 1, 1e-6, 1e9);
  o.validations = given.integer("validations", 2, 1, 1000);
  o.bag_steps = given.integer("bag-steps", d.bag_steps, 0);
  o.seconds = given.number("seconds", 0, 0.001, 1e9);
  o.steps = given.integer("steps", o.layers || o.bag_steps == 0 ? d.steps : o.bag_steps, 1);
  if (given.has("steps") + given.has("epochs") + given.has("seconds") > 1)
    throw tx::value_error("--steps, --epochs and --seconds exclude each other");
  auto const vocabulary = static_cast<int>(given.integer("vocabulary", d.vocabulary, 300, d.vocabulary));
  given.text("pairs");  // throws where it is missing
  bool const resume = o.loop.resume = given.has("resume");
  if (resume && (given.has("force") || given.has("set-aside")))
    throw tx::value_error("--resume goes on with what is in --out: it excludes --force and --set-aside");
  if (given.has("force") && given.has("set-aside"))
    throw tx::value_error("--force and --set-aside exclude each other");
  bool const aside = given.has("set-aside");
  using tx::train::existing;
  existing const what = resume ? existing::resume : aside ? existing::set_aside : given.has("force") ? existing::write_over : existing::refuse;
  std::optional<tx::train::run_folder> folder;
  if (first)
    folder.emplace(given.text("out"), tx::train::run_folder_options{what, model_files(d),
                                                                    "exists and is not empty. FIX: another --out, --set-aside to rename it first, or "
                                                                    "--force to write over the model in it"});
  std::string const out = first ? folder->path() : given.text("out");
  std::string const states = out + "/checkpoints", metrics = out + "/metrics.jsonl", events = out + "/events";
  o.loop.checkpoints = {.folder = states, .every = given.integer("save-every", 0, 1), .at_end = tx::train::at_end::remove, .reads_only = !first};
  o.loop.report.line = first;
  if (first) o.loop.report.metrics = metrics;
  if (first && given.has("tensorboard")) o.loop.report.events = events;
  o.loop.resume_by = "--resume";
  if (given.has("profile")) {
    o.profile = given.text("profile");
    if (command_line::device_of(given) != "cpu") throw tx::value_error("--profile: of kernels of the CPU alone. FIX: --device cpu");
    keep_from(o.profile, out, {given.text("pairs"), given.has("dev") ? given.text("dev") : given.text("pairs")});
  }
  // What the run is to write is looked at before the data are read, and again where a folder was set aside.
  auto const check_outputs = [&](bool in_folder) {
    if (in_folder) tx::io::check_writable_folder(states);
    if (in_folder && given.has("tensorboard")) tx::io::check_writable_folder(events);
    if (!o.profile.empty()) tx::io::check_writable(o.profile);
  };
  if (first) check_outputs(!aside);
  if (resume && !tx::io::has_checkpoint(states))
    throw tx::value_error(
        out + " holds no saved state: the run ended, or was killed before its first. FIX: leave out --resume");
  auto const saved = resume ? std::optional(read_config(out, d)) : std::nullopt;
  if (saved && saved->layers != o.layers)
    throw tx::value_error("--layers is not what the saved run had. FIX: resume with the same options and files");

  auto pairs = tx::text::read_pairs(given.text("pairs"));
  auto dev = given.has("dev") ? tx::text::read_pairs(given.text("dev")) : hold_out(pairs, o.seed);
  if (given.has("epochs")) {
    double const epochs = given.number("epochs", 1, 1e-6, 1e6);
    int const batch = (o.layers ? d.batch : d.bag_batch) * ranks.count();
    o.steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(epochs * static_cast<double>(trained_pairs(pairs)) / batch));
  }
  int const largest = std::max(o.layers ? d.batch : 0, o.bag_steps > 0 || !o.layers ? d.bag_batch : 0) * ranks.count();
  if (std::size_t const count = trained_pairs(pairs); first && !d.labelled && count < static_cast<std::size_t>(largest))
    std::fprintf(stderr, "%zu pairs to learn from are fewer than a batch of %d: some come twice in it, and are taken for others\n", count, largest);
  // Before anything is written: there may be no such device.
  engine_options const wanted{o.seed, o.threads, command_line::device_of(given)};
  auto const made = make_engine(wanted, o.layers);
  engine& e = *made;
  if (auto const name = first ? folder->begin() : ""; !name.empty()) {
    std::fprintf(stderr, "renamed %s to %s\n", out.c_str(), name.c_str());
    check_outputs(true);
  }
  auto const learned = saved ? load_vocabulary(out, d, *saved) : learn_vocabulary(pairs, vocabulary);
  if (!resume && first) {
    tx::io::remove_checkpoints(states);
    learned.save(out);
    write_config(out, d, o.layers);
    tx::io::write_file_atomic(metrics, std::string_view{});
    remove_events(events);  // of the run that this one writes over
  }
  if (ranks.several()) ranks.all().barrier();  // until the vocabulary is written
  o.loop.common = in_common(o, pairs, dev, out + '/' + vocabulary_file(d));
  o.loop.common["the number of processes"] = std::to_string(ranks.count());
  if (ranks.several()) ranks.check_same(o.loop.common);

  if (first)
    std::fprintf(stderr, "%zu pairs, %zu for validation, vocabulary of %zu, %s%s\n", pairs.size(), dev.size(), learned.size(),
                 o.layers ? (std::to_string(d.layers) + " layers").c_str() : "no layers",
                 ranks.several() ? (", on " + std::to_string(ranks.count()) + " processes of " + std::to_string(o.threads) + " threads each").c_str() : "");
  if (first) o.loop.improved = [&] { write_parameters(out, e); };
  auto const result = train(e, learned, pairs, dev, o);
  if (!first) return;
  std::fprintf(stderr, "%lld steps in %.1f s%s; %s", static_cast<long long>(result.steps), result.seconds, ranks.communication_in(result.seconds).c_str(),
               dev.empty()
                   ? ""
                   : ("best dev AUC " + number(result.best.value_or(0)) + " at step " + std::to_string(result.best_step) + "; ")
                         .c_str());
  std::fprintf(stderr, "the model is in %s\n", out.c_str());
}

}  // namespace

void train_command(std::span<std::string const> arguments) {
  auto const known = train_options();
  options const given(arguments, known);
  if (given.has("help")) {
    tx::io::print(help_text("usage: twinbert train --pairs FILE --out DIR [option...]\n"
                            "       mpirun -n N twinbert train --pairs FILE --out DIR [option...]    N processes train one model, each with a batch of its own\n"
                            "Learns a vocabulary and a model from pairs that match.\n\n",
                            known));
    return;
  }
  command_line::processes ranks;
  ranks.together([&] { train_model(given, ranks); });
}

}  // namespace twinbert
