#include "../command_line/program.hpp"
#include "commands.hpp"
#include "dataset.hpp"
#include "pretraining_batches.hpp"
#include "training.hpp"
#include "tuning.hpp"

#include <tx/io/metrics.hpp>
#include <tx/io/pretrained.hpp>
#include <tx/io/save_model_folder.hpp>
#include <tx/io/standard_streams.hpp>
#include <tx/text/write_token_shards.hpp>
#include <tx/train/loop/loop.hpp>
#include <tx/train/loop/prepared.hpp>

#include <cmath>
#include <cstdio>

namespace bert {
namespace {

using command_line::helped, command_line::option, command_line::options;

std::vector<option> pretrain_options() {
  auto const& d = compiled();
  return with_common_options({{"text", "FILE", "sentences, a line each, documents parted by empty lines; may be given several times", true},
                              {"shards", "DIR", called("the same as bert shards has written it, in place of --text: memory does not grow with it")},
                              {"together", "N", "documents of --shards between which pairs are drawn, held in memory; all where there are fewer (default: 20000)"},
                              {"dev", "FILE", "the same, of documents it does not learn from; may be given several times", true},
                              {"model", "DIR", "a folder whose weights it goes on from"},
                              {"config", "DIR", "a folder with config.json and a tokenizer, in place of --model: weights are drawn"},
                              {"out", "DIR", "the new model's folder, which must not exist or be empty"},
                              {"steps", "N", "steps of " + std::to_string(d.batch) + " pairs of texts (default: 10000)"},
                              {"seconds", "T", "as many steps as take about so long, at most --steps; not the same on another machine"},
                              rate_option(" of LAMB", 2e-3),
                              {"warmup", "SHARE", "of the steps, before the full rate; then it falls as the root of what is left (default: 0.2843)"},
                              {"decay", "W", "weight decay (default: 0.01)"},
                              {"dropout", "P", "(default: 0.1)"},
                              {"passes", "N", "different passes over the texts, with pairs and masks of their own, before the first comes again; 0: none ever does (default: 5)"},
                              {"masked", "SHARE", "of tokens, to be told (default: 0.15)"},
                              {"whole-words", "", "all tokens of a word are masked, or none"},
                              {"short", "SHARE", "of pairs that are made shorter (default: 0.1)"},
                              {"batches", "FILE", "each batch that it learns from, a JSON object a line, for another program to learn from the same"},
                              {"validations", "N", "times that --dev is looked at, in the last half (default: 4)"}});
}

double root_schedule(double done, double warmup) { return done < warmup ? done / warmup : std::sqrt((1 - done) / (1 - warmup)); }

std::string sums_of(std::vector<std::string> const& files) {
  std::string all;
  for (auto const& file : files) all += sum_of(file) + ' ';
  return all;
}

// What --text or --shards has, and what a run that is resumed must have in common with the one before.
struct learned_texts {
  std::unique_ptr<document_source> documents;
  std::pair<std::string, std::string> common;
};
learned_texts texts_of(options const& given, tx::text::tokenizer const& words, std::string const& from) {
  if (given.has("text") == given.has("shards")) throw tx::value_error(called("one of --text and --shards: files of sentences, or a folder that bert shards has written"));
  if (given.has("text") && given.has("together")) throw tx::value_error("--together is of --shards: all documents of --text are in memory together");
  if (given.has("text")) return {documents_in_memory(read_documents(given.all("text"), words)), {"--text", sums_of(given.all("text"))}};
  auto shards = tx::io::token_shards::open(given.text("shards"), tx::io::shard_check::all);
  if (shards.tokenizer() != tx::text::tokenizer_fingerprint(from))
    throw tx::format_error(given.text("shards") + " has ids of another tokenizer than " + from + called(". FIX: bert shards --model ") + from);
  std::int64_t const together = given.integer("together", 20'000, 2);
  std::string const sum = tx::io::hex_digits(shards.fingerprint());
  return {documents_in_shards(std::move(shards), static_cast<std::uint64_t>(together)), {"--shards", sum + " together " + std::to_string(together)}};
}

}  // namespace

void pretrain_command(std::span<std::string const> arguments) {
  auto const known = pretrain_options();
  options const given(arguments, known);
  if (helped(given,
             with_updates("usage: bert pretrain (--text FILE... | --shards DIR) --dev FILE... --config DIR --out DIR [option...]\n"
                          "Trains an encoder by masked words and by whether one text follows another, from nothing or, with --model, from weights.\n"),
             known))
    return;
  auto const& d = compiled();
  auto& all = command_line::processes::now();
  if (all.several() && given.has("seconds")) throw tx::value_error("--seconds: processes have clocks of their own, and all take the same steps. FIX: --steps");
  if (all.several() && given.has("batches")) throw tx::value_error("--batches: of one process alone. FIX: start one");
  auto const seed = static_cast<std::uint64_t>(given.integer("seed", 1, 0));
  auto const made = make_pretrainer(engine_of(given, seed));
  pretrainer& run = *made;
  if (given.has("model") == given.has("config")) throw tx::value_error("one of --model and --config: a folder with weights to go on from, or one without");
  std::string const from = given.has("model") ? given.text("model") : given.text("config"), out = given.text("out");
  check_folder(from);
  auto const folder = tx::io::model_folder::open(from);
  auto const words = load_tokenizer(from, given);
  special_ids const special(words, from);
  auto const texts = texts_of(given, words, from);
  auto const unseen = documents_in_memory(read_documents(given.all("dev"), words));

  pair_options const pairing{.longest = d.train_longest, .short_share = given.number("short", 0.1, 0, 1)};
  mask_options const masking{.share = given.number("masked", 0.15, 0.01, 0.9),
                             .most = d.predictions,
                             .whole_words = given.has("whole-words"),
                             .mask = special.mask,
                             .vocabulary = static_cast<std::int32_t>(words.size()),
                             .kept = {special.kept.get(), special.size},
                             .continues = {special.continues.get(), special.size}};
  step_settings settings{rate_of(given, 2e-3), given.number("decay", 0.01, 0, 1), given.number("dropout", 0.1, 0, 0.9)};
  double const top = settings.rate, warmup = given.number("warmup", 0.2843, 0, 0.99);
  std::int64_t const passes = given.integer("passes", 5, 0);

  auto const holds = held_folder(given);
  if (given.has("model")) run.change([&](std::vector<named_tensor> const& tensors) { begin_with(folder, tensors); });
  tx::train::prepared batches(pair_batches(*texts.documents, pairing, masking, special, seed, passes, all.rank_share()));
  held_out const dev(*unseen, pairing, masking, special);
  std::fprintf(stderr, "%llu documents, %zu pairs in the first of %llu parts of a pass, %llu documents for validation, %zu tokens in vocabulary\n",
               static_cast<unsigned long long>(texts.documents->documents()), batches.source().pairs_in_window(), static_cast<unsigned long long>(texts.documents->windows()),
               static_cast<unsigned long long>(unseen->documents()), words.size());

  std::int64_t const validations = given.integer("validations", 4, 1, 100'000);
  tx::train::length const lasts{.steps = whole_updates(given.integer("steps", 10'000, 1)), .seconds = given.number("seconds", 0, 0, 1e9), .fixed = true};
  pretrainer::told last;
  auto o = loop_options(given, out);
  o.validate = [&] { return (last = dev.judged(run)).loss; };
  o.improved = [&] { tx::io::save_model_folder(out, run.held_kept().tensors, folder, {{"architectures", {"BertForPreTraining"}}}); };
  o.common = {{"--seed", std::to_string(seed)}, texts.common, {"--dev", sums_of(given.all("dev"))}, {"--rate", exact(top)}, {"--warmup", exact(warmup)},
              {"--decay", exact(settings.decay)}, {"--dropout", exact(settings.dropout)}, {"--passes", std::to_string(passes)},
              {"--masked", exact(masking.share)}, {"--whole-words", std::to_string(masking.whole_words)}, {"--short", exact(pairing.short_share)},
              {"--steps", std::to_string(lasts.steps)}, {"--validations", std::to_string(validations)}, {given.has("model") ? "--model" : "--config", sum_of(folder)}};
  all.share(o, helps_to_save(run));
  tx::train::loop loop(run, batches, o);
  std::optional<tx::io::file_handle> told_batches;
  if (given.has("batches")) {
    std::string const file = given.text("batches");
    std::error_code absent;
    if (given.has("resume")) tx::io::cut_metrics(file, loop.step());
    else if (std::filesystem::file_size(file, absent) > 0 && !absent) throw tx::value_error("--batches " + file + " is there and not empty. FIX: another file");
    told_batches.emplace(file, O_WRONLY | O_APPEND | O_CREAT, "append to");
  }
  loop.run({.lasts = lasts, .validations = {.count = validations}}, [&](tx::train::moment const& now) -> tx::train::step_told {
    auto const& b = batches.next();
    if (told_batches) {
      std::string const line = "{\"step\":" + std::to_string(now.step + 1) + ",\"texts\":" + b.as_json() + "}\n";
      told_batches->write_all(std::as_bytes(std::span(line)));
    }
    settings.rate = top * root_schedule(share_done(now.done, now.steps), warmup);
    auto const told = run.train(b.batch, settings, trace_of(given, now));
    return {told.loss, {{"texts", static_cast<double>(d.batch * all.batches())}, {"tokens", all.sum(static_cast<double>(b.tokens))}}, settings.rate};
  });
  auto const result = loop.finish();
  last = dev.judged(run);
  char line[240];
  std::snprintf(line, sizeof line, "loss %.4f: words %.4f, %.4f right; pairs %.4f, %.4f right; %lld steps in %.1f s%s\n", last.loss, last.words, last.words_right, last.follows,
                last.follows_right, static_cast<long long>(result.steps), result.seconds, all.communication_in(result.seconds).c_str());
  tx::io::print(line);
  std::fprintf(stderr, "the model is in %s\n", out.c_str());
}

}  // namespace bert
