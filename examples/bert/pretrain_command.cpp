#include "../command_line/program.hpp"
#include "commands.hpp"
#include "dataset.hpp"
#include "pretraining_data.hpp"
#include "training.hpp"

#include <tx/io/pretrained.hpp>
#include <tx/io/save_model_folder.hpp>
#include <tx/io/standard_streams.hpp>
#include <tx/train/loop/loop.hpp>
#include <tx/train/loop/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace bert {
namespace {

using command_line::helped, command_line::option, command_line::options;

std::vector<option> pretrain_options() {
  auto const& d = compiled();
  return with_common_options({{"text", "FILE", "sentences, a line each, documents parted by empty lines; may be given several times", true},
                              {"dev", "FILE", "the same, of documents it does not learn from; may be given several times", true},
                              {"model", "DIR", "a folder whose weights it goes on from"},
                              {"config", "DIR", "a folder with config.json and a tokenizer, in place of --model: weights are drawn"},
                              {"out", "DIR", "the new model's folder, which must not exist or be empty"},
                              {"steps", "N", "steps of " + std::to_string(d.batch) + " pairs of texts (default: 10000)"},
                              {"seconds", "T", "as many steps as take about so long, at most --steps; not the same on another machine"},
                              {"rate", "R", "learning rate of LAMB at its highest (default: 0.002)"},
                              {"warmup", "SHARE", "of the steps, before the full rate; then it falls as the root of what is left (default: 0.2843)"},
                              {"decay", "W", "weight decay (default: 0.01)"},
                              {"dropout", "P", "(default: 0.1)"},
                              {"passes", "N", "different passes over the texts, with pairs and masks of their own, before the first comes again; 0: none ever does (default: 5)"},
                              {"masked", "SHARE", "of tokens, to be told (default: 0.15)"},
                              {"whole-words", "", "all tokens of a word are masked, or none"},
                              {"short", "SHARE", "of pairs that are made shorter (default: 0.1)"},
                              {"validations", "N", "times that --dev is looked at, in the last half (default: 4)"}});
}

// Ids that are never masked, and those that go on with a word.
struct special_ids {
  std::unique_ptr<bool[]> kept, continues;
  std::int32_t cls, sep, mask;
  std::size_t size;

  explicit special_ids(tx::text::tokenizer const& words, std::string const& folder) : size(words.size()) {
    auto const id = [&](char const* name) {
      auto const found = words.id(name);
      if (!found) throw tx::format_error(folder + ": the tokenizer has no " + name + ", which pre-training needs");
      return *found;
    };
    cls = id("[CLS]"), sep = id("[SEP]"), mask = id("[MASK]");
    kept = std::make_unique<bool[]>(size);
    continues = std::make_unique<bool[]>(size);
    for (std::int32_t const special : {cls, sep, mask, id("[PAD]")}) kept[static_cast<std::size_t>(special)] = true;
    for (std::size_t k = 0; k < size; ++k) continues[k] = words.goes_on(static_cast<std::int32_t>(k));
  }
};

// Batches in the order of passes over the documents. The place is a pass and a pair in it; everything else follows from these and the seed.
class pairs {
 public:
  pairs(std::vector<document> const& documents, pair_options const& pairing, mask_options const& masking, special_ids const& special, std::uint64_t seed, std::int64_t passes)
      : documents_(documents), pairing_(pairing), masking_(masking), special_(special), seed_(seed), passes_(passes) {
    draw();
  }

  pretrainer::batch const& next() {
    auto const& d = compiled();
    batch_ = {};
    held_.clear();
    held_.reserve(static_cast<std::size_t>(d.batch));
    tokens = 0;
    for (int k = 0; k < d.batch; ++k) {
      if (at_ == drawn_.size()) {
        ++pass_;
        draw();
        at_ = 0;
      }
      pair_example const& p = drawn_[at_];
      held_.push_back({masked(p.ids, masking_, pass_seed() ^ (0x9e3779b97f4a7c15u * (at_ + 1))), p.types});  // the next pass may begin within the batch
      ++at_;
      held const& h = held_.back();
      batch_.texts.push_back({h.text.ids, h.types});
      batch_.places.push_back(h.text.places);
      batch_.words.push_back(h.text.words);
      batch_.others.push_back(p.other);
      tokens += h.types.size();
    }
    return batch_;
  }
  // From the first pair of the pass on.
  void begin_again() { at_ = 0; }
  std::size_t in_a_pass() const { return drawn_.size(); }
  std::size_t tokens = 0;

  void save(tx::train::to_save& out) const {
    out.put("pass", pass_);
    out.put("pair", static_cast<std::int64_t>(at_));
  }
  void restore(tx::train::saved const& in) {
    pass_ = in.value<std::int64_t>("pass");
    draw();
    auto const at = in.value<std::int64_t>("pair");
    if (at < 0 || static_cast<std::size_t>(at) > drawn_.size()) throw tx::format_error("the saved place in the texts is that of other texts. FIX: resume with the same --text");
    at_ = static_cast<std::size_t>(at);
  }

 private:
  struct held {
    masked_text text;
    std::vector<std::int32_t> types;
  };

  std::uint64_t pass_seed() const { return tx::train::random_numbers(seed_ ^ (0x70617373u + static_cast<std::uint64_t>(passes_ > 0 ? pass_ % passes_ : pass_)))(); }
  void draw() {
    drawn_ = drawn_pairs(documents_, pairing_, special_.cls, special_.sep, pass_seed());
    if (drawn_.empty()) throw tx::value_error("--text makes no pair of texts. FIX: documents of more than a few words");
  }

  std::vector<document> const& documents_;
  pair_options pairing_;
  mask_options masking_;
  special_ids const& special_;
  std::uint64_t seed_;
  std::int64_t passes_, pass_ = 0;
  std::vector<pair_example> drawn_;
  std::size_t at_ = 0;
  pretrainer::batch batch_;
  std::vector<held> held_;  // what the batch's texts are views of
};

// The first pairs of other documents, in batches that stay as they are.
class held_out {
 public:
  held_out(std::vector<document> const& documents, pair_options const& pairing, mask_options const& masking, special_ids const& special)
      : source_(documents, pairing, masking, special, 0x646576u, 1), batches_(std::clamp<std::size_t>(source_.in_a_pass() / static_cast<std::size_t>(compiled().batch), 1, 32)) {}

  pretrainer::told judged(pretrainer& run) {
    pretrainer::told sum;
    source_.begin_again();
    for (std::size_t k = 0; k < batches_; ++k) {
      auto const t = run.judge(source_.next());
      sum.loss += t.loss, sum.words += t.words, sum.follows += t.follows, sum.words_right += t.words_right, sum.follows_right += t.follows_right;
    }
    for (double* x : {&sum.loss, &sum.words, &sum.follows, &sum.words_right, &sum.follows_right}) *x /= static_cast<double>(batches_);
    return sum;
  }

 private:
  pairs source_;
  std::size_t batches_;
};

double root_schedule(double done, double warmup) { return done < warmup ? done / warmup : std::sqrt((1 - done) / (1 - warmup)); }

std::string sums_of(std::vector<std::string> const& files) {
  std::string all;
  for (auto const& file : files) all += sum_of(file) + ' ';
  return all;
}

}  // namespace

void pretrain_command(std::span<std::string const> arguments) {
  auto const known = pretrain_options();
  options const given(arguments, known);
  if (helped(given,
             "usage: bert pretrain --text FILE... --dev FILE... --config DIR --out DIR [option...]\n"
             "Trains an encoder by masked words and by whether one text follows another, from nothing or, with --model, from weights.\n\n",
             known))
    return;
  auto const& d = compiled();
  auto const seed = static_cast<std::uint64_t>(given.integer("seed", 1, 0));
  auto const made = make_pretrainer(seed, static_cast<int>(given.integer("threads", 0, 0, 1024)));
  pretrainer& run = *made;
  if (given.has("model") == given.has("config")) throw tx::value_error("one of --model and --config: a folder with weights to go on from, or one without");
  std::string const from = given.has("model") ? given.text("model") : given.text("config"), out = given.text("out");
  check_folder(from);
  auto const folder = tx::io::model_folder::open(from);
  auto const words = load_tokenizer(from);
  special_ids const special(words, from);
  auto const documents = read_documents(given.all("text"), words), unseen = read_documents(given.all("dev"), words);

  pair_options const pairing{.longest = d.train_longest, .short_share = given.number("short", 0.1, 0, 1)};
  mask_options const masking{.share = given.number("masked", 0.15, 0.01, 0.9),
                             .most = d.predictions,
                             .whole_words = given.has("whole-words"),
                             .mask = special.mask,
                             .vocabulary = static_cast<std::int32_t>(words.size()),
                             .kept = {special.kept.get(), special.size},
                             .continues = {special.continues.get(), special.size}};
  step_settings settings{given.number("rate", 2e-3, 0, 1), given.number("decay", 0.01, 0, 1), given.number("dropout", 0.1, 0, 0.9)};
  double const top = settings.rate, warmup = given.number("warmup", 0.2843, 0, 0.99);
  std::int64_t const passes = given.integer("passes", 5, 0);

  tx::train::run_folder const holds(out, folder_options(given));
  if (given.has("model")) {
    auto const report = tx::io::load_pretrained(folder, run.tensors(), d.family);
    for (auto const& name : report.fresh) std::fprintf(stderr, "fresh: %s\n", name.c_str());
  }
  pairs batches(documents, pairing, masking, special, seed, passes);
  held_out dev(unseen, pairing, masking, special);
  std::fprintf(stderr, "%zu documents, %zu pairs in a pass, %zu documents for validation, %zu tokens in vocabulary\n", documents.size(), batches.in_a_pass(), unseen.size(), words.size());

  tx::train::length const lasts{.steps = given.integer("steps", 10'000, 1), .seconds = given.number("seconds", 0, 0, 1e9), .fixed = true};
  pretrainer::told last;
  auto o = loop_options(given, out);
  o.validate = [&] { return (last = dev.judged(run)).loss; };
  o.improved = [&] { tx::io::save_model_folder(out, run.tensors(), folder, {{"architectures", {"BertForPreTraining"}}}); };
  o.common = {{"--seed", std::to_string(seed)}, {"--text", sums_of(given.all("text"))}, {"--dev", sums_of(given.all("dev"))}, {"--rate", std::to_string(top)}, {"--warmup", std::to_string(warmup)},
              {"--decay", std::to_string(settings.decay)}, {"--dropout", std::to_string(settings.dropout)}, {"--passes", std::to_string(passes)},
              {"--masked", std::to_string(masking.share)}, {"--whole-words", std::to_string(masking.whole_words)}, {"--short", std::to_string(pairing.short_share)},
              {"--steps", std::to_string(lasts.steps)}};
  tx::train::loop loop(run, batches, o);
  loop.run({.lasts = lasts, .validations = {.count = given.integer("validations", 4, 1, 100'000)}}, [&](tx::train::moment const& now) -> tx::train::step_told {
    auto const& b = batches.next();
    settings.rate = top * root_schedule(now.steps > 0 ? (static_cast<double>(now.done) + 0.5) / static_cast<double>(now.steps) : 0, warmup);
    auto const told = run.train(b, settings, trace_of(given, now));
    return {told.loss, {{"texts", static_cast<double>(d.batch)}, {"tokens", static_cast<double>(batches.tokens)}}, settings.rate};
  });
  auto const result = loop.finish();
  last = dev.judged(run);
  char line[240];
  std::snprintf(line, sizeof line, "loss %.4f: words %.4f, %.4f right; pairs %.4f, %.4f right; %lld steps in %.1f s\n", last.loss, last.words, last.words_right, last.follows,
                last.follows_right, static_cast<long long>(result.steps), result.seconds);
  tx::io::print(line);
  std::fprintf(stderr, "the model is in %s\n", out.c_str());
}

}  // namespace bert
