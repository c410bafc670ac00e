#include "finetuning.hpp"

#include "judged.hpp"

#include <tx/io/pretrained.hpp>
#include <tx/train/loop/epochs.hpp>
#include <tx/train/loop/loop.hpp>

#include <algorithm>
#include <cstdio>

namespace bert {
namespace {

using command_line::option, command_line::options;

// Numbers of examples, a batch at a time; what an epoch has left that is no whole batch is left out.
class drawn_examples {
 public:
  drawn_examples(std::size_t count, std::uint64_t seed) : random_(seed), order_(count) {}

  // Of all processes' batches, which come one after the other, this one's.
  std::span<std::size_t const> next(std::size_t batch) {
    auto const& all = command_line::processes::now();
    std::size_t const together = batch * static_cast<std::size_t>(all.batches());
    drawn_.clear();
    if (order_.left() < together) order_.begin_anew();
    while (drawn_.size() < together) drawn_.push_back(order_.next(random_));
    return std::span(drawn_).subspan(batch * static_cast<std::size_t>(all.batch()), batch);
  }
  void save(tx::train::to_save& out) const {
    out.put("random", random_.state());
    order_.save(out);
  }
  void restore(tx::train::saved const& in) {
    order_.restore(in, "texts", "--data");
    random_ = tx::train::random_numbers(in.value<std::uint64_t>("random"));
  }

 private:
  tx::train::random_numbers random_;
  tx::train::epochs order_;
  std::vector<std::size_t> drawn_;
};

// Up in a line, then down in a line.
double linear_schedule(double done, double warmup) { return done < warmup ? done / warmup : (1 - done) / (1 - warmup); }

}  // namespace

std::vector<option> finetuning_options(std::string const& data, std::string const& dev, std::vector<option> own) {
  auto const& d = compiled();
  std::vector<option> const others{{"data", "FILE", data},
                                   {"dev", "FILE", dev},
                                   {"out", "DIR", "the new model's folder, which must not exist or be empty"},
                                   {"epochs", "N", "(default: 3)"},
                                   {"steps", "N", "steps of " + std::to_string(d.batch) + " texts, of each process where there are several, in place of --epochs"},
                                   rate_option("", 1e-4),
                                   {"warmup", "SHARE", "of the steps, before the full rate; then it falls in a line to nothing (default: 0.1)"},
                                   {"decay", "W", "weight decay (default: 0.01)"},
                                   {"dropout", "P", "(default: 0.1)"},
                                   {"length", "N", "tokens of a text at most (default: " + std::to_string(d.train_longest) + ", the most there may be)"},
                                   {"validations", "N", "times that --dev is looked at (default: 3)"},
                                   {"patience", "N", "validations without a better one that end it (default: any number)"}};
  own.insert(own.end(), others.begin(), others.end());
  return with_common_options(std::move(own));
}

finetuning::finetuning(options const& given)
    : data(given.text("data")),
      dev(given.text("dev")),
      out(given.text("out")),
      seed(static_cast<std::uint64_t>(given.integer("seed", 1, 0))),
      longest(static_cast<int>(given.integer("length", compiled().train_longest, std::min(8, compiled().train_longest), compiled().train_longest))),
      settings{rate_of(given, 1e-4), given.number("decay", 0.01, 0, 1), given.number("dropout", 0.1, 0, 0.9), given.number("layer-decay", 1, 0.01, 1)},
      warmup(given.number("warmup", 0.1, 0, 0.99)),
      epochs(given.number("epochs", 3, 1e-3, 1e6)),
      validations(given.integer("validations", 3, 1, 100'000)),
      patience(given.integer("patience", 0, 1)) {
  if (given.has("steps")) steps = given.integer("steps", 1, 1);
  if (given.has("steps") && given.has("epochs")) throw tx::value_error("--steps and --epochs exclude each other");
}

void finetuning::check_count(std::size_t examples, char const* what) const {
  int const batches = command_line::processes::now().batches(), batch = compiled().batch * batches;
  if (examples < static_cast<std::size_t>(batch))
    throw tx::value_error(data + " has " + std::to_string(examples) + ' ' + what + ", a step takes " + std::to_string(batch) + ". FIX: more of them, or a program with a smaller BATCH" + (batches > 1 ? ", or fewer processes" : ""));
}

void begin_with(tx::io::model_folder const& folder, std::vector<named_tensor> const& tensors) {
  for (auto const& name : tx::io::load_pretrained(folder, tensors, compiled().family).fresh) std::fprintf(stderr, "fresh: %s\n", name.c_str());
}

examples labelled_examples(classifier& run, dataset const& learned, dataset const& unseen, std::string const& model_sum, std::function<void()> improved) {
  return {.count = learned.texts.size(),
          .learn =
              [&run, &learned](std::span<std::size_t const> drawn, step_settings const& settings, std::string const& trace) {
                std::vector<coded_text> texts;
                std::vector<float> targets;
                std::size_t tokens = 0;
                for (std::size_t const i : drawn) {
                  texts.push_back({learned.texts[i].ids, learned.texts[i].types});
                  targets.push_back(learned.targets[i]);
                  tokens += learned.texts[i].ids.size();
                }
                return examples::learned{static_cast<double>(run.train(texts, targets, settings, trace)), tokens};
              },
          .validate = [&run, &unseen] { return judged(run.logits(coded_texts(unseen.texts)), unseen.targets).value(); },
          .measure = {.name = judged_by(), .label = judged_by(), .higher_is_better = true},
          .improved = std::move(improved),
          .common = {{"--model", model_sum}}};
}

tx::train::loop_result finetuned(trained_run& run, options const& given, finetuning const& f, examples const& e) {
  auto& all = command_line::processes::now();
  auto const batch = static_cast<std::size_t>(compiled().batch), together = batch * static_cast<std::size_t>(all.batches());
  auto o = loop_options(given, f.out);
  o.validate = e.validate;
  o.measure = e.measure;
  o.patience = f.patience;
  o.improved = e.improved;
  tx::train::length lasts = f.steps ? tx::train::length{.steps = *f.steps} : tx::train::in_epochs(f.epochs, e.count, together);
  lasts.steps = whole_updates(lasts.steps);
  o.common = {{"--seed", std::to_string(f.seed)}, {"--data", sum_of(f.data)}, {"--dev", sum_of(f.dev)}, {"--steps", std::to_string(lasts.steps)},
              {"--rate", exact(f.settings.rate)}, {"--warmup", exact(f.warmup)}, {"--decay", exact(f.settings.decay)}, {"--dropout", exact(f.settings.dropout)},
              {"--length", std::to_string(f.longest)}, {"--validations", std::to_string(f.validations)}, {"--layer-decay", exact(f.settings.layer_decay)},
              {"--adapter", given.has("adapter") ? sum_of((std::filesystem::path(given.text("adapter")) / "adapter_model.safetensors").string()) : ""}, {"--patience", std::to_string(o.patience)}};
  o.common.insert(e.common.begin(), e.common.end());
  all.share(o, helps_to_save(run));

  drawn_examples order(e.count, f.seed);
  tx::train::loop loop(run, order, o);
  loop.run({.lasts = lasts, .validations = {.count = f.validations}}, [&](tx::train::moment const& now) -> tx::train::step_told {
    step_settings settings = f.settings;
    settings.rate *= linear_schedule(share_done(now.done, lasts.steps), f.warmup);
    auto const told = e.learn(order.next(batch), settings, trace_of(given, now));
    return {told.loss, {{"texts", static_cast<double>(together)}, {"tokens", all.sum(static_cast<double>(told.tokens))}}, settings.rate};
  });
  return loop.finish();
}

std::string run_told(tx::train::loop_result const& result, finetuning const& f) {
  char line[160];
  std::snprintf(line, sizeof line, "of step %lld; %lld steps in %.1f s%s\n", static_cast<long long>(result.best_step), static_cast<long long>(result.steps), result.seconds,
                command_line::processes::now().communication_in(result.seconds).c_str());
  std::fprintf(stderr, "the model is in %s\n", f.out.c_str());
  return line;
}

}  // namespace bert
