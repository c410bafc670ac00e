#include "../command_line/program.hpp"
#include "commands.hpp"
#include "dataset.hpp"
#include "judged.hpp"
#include "training.hpp"

#include <tx/io/pretrained.hpp>
#include <tx/io/standard_streams.hpp>
#include <tx/train/loop/epochs.hpp>
#include <tx/train/loop/loop.hpp>

#include <cmath>
#include <cstdio>

namespace bert {
namespace {

using command_line::helped, command_line::option, command_line::options;

std::vector<option> finetune_options() {
  auto const& d = compiled();
  return with_common_options({{"model", "DIR", "a folder of Hugging Face's, whose weights it begins with"},
                              {"data", "FILE", "what it learns from: label<TAB>text[<TAB>text], or JSON lines with label, text and perhaps pair"},
                              {"dev", "FILE", "texts that it does not learn from, by which the best state is kept"},
                              {"out", "DIR", "the new model's folder, which must not exist or be empty"},
                              {"epochs", "N", "(default: 3)"},
                              {"steps", "N", "steps of " + std::to_string(d.batch) + " texts, in place of --epochs"},
                              {"rate", "R", "learning rate at its highest (default: 0.0001)"},
                              {"warmup", "SHARE", "of the steps, before the full rate; then it falls in a line to nothing (default: 0.1)"},
                              {"decay", "W", "weight decay (default: 0.01)"},
                              {"dropout", "P", "(default: 0.1)"},
                              {"length", "N", "tokens of a text at most (default: " + std::to_string(d.train_longest) + ", the most there may be)"},
                              {"validations", "N", "times that --dev is looked at (default: 3)"},
                              {"patience", "N", "validations without a better one that end it (default: any number)"}});
}

// Texts in an order that is drawn anew for each epoch; what an epoch has left that is no whole batch is left out.
class shuffled {
 public:
  shuffled(dataset const& data, std::uint64_t seed) : data_(data), random_(seed), order_(data.texts.size()) {}

  void next(std::size_t batch) {
    texts.clear();
    targets.clear();
    tokens = 0;
    if (order_.left() < batch) order_.begin_anew();
    for (std::size_t k = 0; k < batch; ++k) {
      std::size_t const i = order_.next(random_);
      texts.push_back({data_.texts[i].ids, data_.texts[i].types});
      targets.push_back(data_.targets[i]);
      tokens += data_.texts[i].ids.size();
    }
  }
  std::vector<coded_text> texts;
  std::vector<float> targets;
  std::size_t tokens = 0;

  void save(tx::train::to_save& out) const {
    out.put("random", random_.state());
    order_.save(out);
  }
  void restore(tx::train::saved const& in) {
    order_.restore(in, "texts", "--data");
    random_ = tx::train::random_numbers(in.value<std::uint64_t>("random"));
  }

 private:
  dataset const& data_;
  tx::train::random_numbers random_;
  tx::train::epochs order_;
};

// Up in a line, then down in a line.
double linear_schedule(double done, double warmup) { return done < warmup ? done / warmup : (1 - done) / (1 - warmup); }

// Names of labels: those of a folder that has been trained for the same ones keep their numbers.
std::vector<std::string> chosen_labels(tx::io::model_folder const& folder, std::span<tx::text::labelled_text const> texts, std::string const& source) {
  auto const& d = compiled();
  if (d.regression()) return {};
  std::vector<std::string> names = label_names(texts), known = labels_of(folder);
  if (static_cast<int>(names.size()) != d.labels) {
    std::string all;
    for (std::size_t k = 0; k < std::min<std::size_t>(names.size(), 10); ++k) all += (k == 0 ? "" : ", ") + tx::io::shown(names[k]);
    throw tx::value_error(source + " has " + std::to_string(names.size()) + " labels (" + all + (names.size() > 10 ? ", ..." : "") + "), the program was compiled for " +
                          std::to_string(d.labels) + ". FIX: tx_add_bert(... HEADS sequence=" + std::to_string(names.size()) + ")");
  }
  auto sorted = known;
  std::ranges::sort(sorted);
  auto wanted = names;
  std::ranges::sort(wanted);
  return sorted == wanted ? known : names;
}

}  // namespace

void finetune_command(std::span<std::string const> arguments) {
  auto const known = finetune_options();
  options const given(arguments, known);
  if (helped(given,
             "usage: bert finetune --model DIR --data FILE --dev FILE --out DIR [option...]\n"
             "Trains a model with a head for whole texts, and leaves a folder that transformers opens.\n\n",
             known))
    return;
  auto const& d = compiled();
  std::string const model = given.text("model"), data = given.text("data"), dev = given.text("dev"), out = given.text("out");
  auto const seed = static_cast<std::uint64_t>(given.integer("seed", 1, 0));
  step_settings settings{given.number("rate", 1e-4, 0, 1), given.number("decay", 0.01, 0, 1), given.number("dropout", 0.1, 0, 0.9)};
  double const top = settings.rate, warmup = given.number("warmup", 0.1, 0, 0.99);
  auto const longest = static_cast<int>(given.integer("length", d.train_longest, 4, d.train_longest));
  auto const batch = static_cast<std::size_t>(d.batch);
  if (given.has("steps") && given.has("epochs")) throw tx::value_error("--steps and --epochs exclude each other");

  auto const made = make_classifier(seed, static_cast<int>(given.integer("threads", 0, 0, 1024)), true);
  classifier& run = *made;
  check_folder(model);
  auto const folder = tx::io::model_folder::open(model);
  auto const words = load_tokenizer(model);
  auto const texts = tx::text::read_labelled_texts(data), held_out = tx::text::read_labelled_texts(dev);
  auto const labels = chosen_labels(folder, texts, data);
  dataset const learned = encode(texts, data, words, labels, longest), unseen = encode(held_out, dev, words, labels, longest);
  if (learned.texts.size() < batch)
    throw tx::value_error(data + " has " + std::to_string(learned.texts.size()) + " texts, a step takes " + std::to_string(batch) + ". FIX: more texts, or a program with a smaller BATCH");

  tx::train::run_folder const holds(out, folder_options(given));
  auto const loaded = tx::io::load_pretrained(folder, run.tensors(), d.family);
  std::fprintf(stderr, "%zu texts, %zu for validation, %zu tokens in vocabulary, %s\n", learned.texts.size(), unseen.texts.size(), words.size(),
               d.regression() ? "numbers to tell" : (std::to_string(labels.size()) + " labels").c_str());
  for (auto const& name : loaded.fresh) std::fprintf(stderr, "fresh: %s\n", name.c_str());

  auto const save = [&] { tx::io::save_model_folder(out, run.tensors(), folder, trained_config(labels)); };
  shuffled batches(learned, seed);
  auto o = loop_options(given, out);
  o.validate = [&] { return judged(run, unseen).value(); };
  o.measure = {.name = judged_by(), .label = judged_by(), .higher_is_better = true};
  o.patience = given.integer("patience", 0, 1);
  o.improved = save;
  tx::train::length const lasts = given.has("steps") ? tx::train::length{.steps = given.integer("steps", 1, 1)}
                                                     : tx::train::in_epochs(given.number("epochs", 3, 1e-3, 1e6), learned.texts.size(), batch);
  o.common = {{"--seed", std::to_string(seed)}, {"--data", sum_of(data)}, {"--dev", sum_of(dev)}, {"--model", sum_of(folder.config_path().string())}, {"--steps", std::to_string(lasts.steps)},
              {"--rate", std::to_string(top)}, {"--warmup", std::to_string(warmup)}, {"--decay", std::to_string(settings.decay)},
              {"--dropout", std::to_string(settings.dropout)}, {"--length", std::to_string(longest)}};

  tx::train::loop loop(run, batches, o);
  loop.run({.lasts = lasts, .validations = {.count = given.integer("validations", 3, 1, 100'000)}}, [&](tx::train::moment const& now) -> tx::train::step_told {
    batches.next(batch);
    settings.rate = top * linear_schedule((static_cast<double>(now.done) + 0.5) / static_cast<double>(lasts.steps), warmup);
    double const loss = static_cast<double>(run.train(batches.texts, batches.targets, settings, trace_of(given, now)));
    return {loss, {{"texts", static_cast<double>(batch)}, {"tokens", static_cast<double>(batches.tokens)}}, settings.rate};
  });
  auto const result = loop.finish();
  char line[160];
  std::snprintf(line, sizeof line, "%s %.4f over %zu texts, of step %lld; %lld steps in %.1f s\n", judged_by(), *result.best, unseen.texts.size(),
                static_cast<long long>(result.best_step), static_cast<long long>(result.steps), result.seconds);
  tx::io::print(line);
  std::fprintf(stderr, "the model is in %s\n", out.c_str());
}

}  // namespace bert
