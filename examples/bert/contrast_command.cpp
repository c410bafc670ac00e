// contrast: vectors of texts learn from pairs that belong together.
#include "../command_line/program.hpp"
#include "commands.hpp"
#include "finetuning.hpp"
#include "tuning.hpp"

#include <tx/io/adapter_folder.hpp>
#include <tx/io/pretrained.hpp>
#include <tx/io/sentence_modules.hpp>
#include <tx/io/standard_streams.hpp>
#include <tx/train/loop/ranking.hpp>

#include <cstdio>
#include <map>

namespace bert {
namespace {

std::vector<command_line::option> contrast_options() {
  return finetuning_options("pairs of texts that belong together: text<TAB>text, or JSON lines with text and pair",
                            "pairs that it does not learn from, by which the best state is kept: how well the first text finds the second among all",
                            with_tuning_options({{"model", "DIR", "a folder of Hugging Face's or sentence-transformers', whose weights it begins with"}}));
}

// Pairs as ids, each text alone.
struct coded_pairs {
  std::vector<tx::text::encoding> first, second;

  coded_pairs(std::string const& file, tx::text::tokenizer const& words, int longest) {
    auto const pairs = tx::text::read_labelled_texts(file, tx::text::labels::none);
    if (!pairs.front().pair) throw tx::format_error(file + ":1: one text where two belong. FIX: text<TAB>text, or JSON lines with text and pair");
    std::vector<tx::text::labelled_text> one, other;
    for (auto const& p : pairs) one.push_back({"", p.text}), other.push_back({"", *p.pair});
    first = encode(one, file, words, longest);
    second = encode(other, file, words, longest);
    say_cut(first, file + ", first texts", longest), say_cut(second, file + ", second texts", longest);
  }
  std::size_t size() const { return first.size(); }
};

// How well each first text finds its own among all second ones, of which equal ones are one.
tx::train::ranking ranked(contrastive& run, coded_pairs const& pairs) {
  std::map<std::vector<std::int32_t>, std::size_t> seen;
  std::vector<coded_text> distinct;
  std::vector<std::size_t> own;
  for (auto const& t : pairs.second) {
    auto const [at, fresh] = seen.try_emplace(t.ids, distinct.size());
    if (fresh) distinct.push_back({t.ids, t.types});
    own.push_back(at->second);
  }
  return tx::train::ranked_by_cosine(run.embed(coded_texts(pairs.first)), run.embed(distinct), static_cast<std::size_t>(compiled().hidden), own);
}

}  // namespace

void contrast_command(std::span<std::string const> arguments) {
  auto const known = contrast_options();
  command_line::options const given(arguments, known);
  if (command_line::helped(given,
                           with_tuning("usage: bert contrast --model DIR --data FILE --dev FILE --out DIR [option...]\n"
                                       "Trains vectors of texts: each text is to find the one it belongs to among those of a batch, by cosine. Leaves a folder that embed and\n"
                                       "sentence-transformers open.\n"),
                           known))
    return;
  std::string const model = given.text("model");
  finetuning const f(given);
  check_tuning_options(given);
  auto const made = make_contrastive(engine_of(given, f.seed));
  contrastive& run = *made;
  check_folder(model);
  auto said = tx::io::sentence_modules::of(model);
  if (std::filesystem::exists(std::filesystem::path(model) / "modules.json") && said.first_token != run.first_token())
    throw tx::value_error(model + " takes " + (said.first_token ? "first tokens" : "means of tokens") + " for vectors, the program " + (run.first_token() ? "first tokens" : "means") +
                          ". FIX: tx_add_bert(... HEADS contrast" + (said.first_token ? "=cls" : "") + ")");
  said.first_token = run.first_token();
  said.longest = f.longest;
  auto const folder = tx::io::model_folder::open(model);
  auto const words = load_tokenizer(model, given);
  coded_pairs const learned(f.data, words, f.longest), unseen(f.dev, words, f.longest);
  f.check_count(learned.size(), "pairs");

  auto const holds = held_folder(given);
  begin_with(folder, run, given, "Model");
  auto const line = [&] {
    auto const r = ranked(run, unseen);
    char text[80];
    std::snprintf(text, sizeof text, "accuracy@1 %.4f  MRR %.4f", r.recall, r.reciprocal_rank);
    return std::string(text);
  };
  std::fprintf(stderr, "%zu pairs, %zu for validation; at first: %s\n", learned.size(), unseen.size(), line().c_str());

  examples const of{.count = learned.size(),
                    .learn =
                        [&](std::span<std::size_t const> drawn, step_settings const& settings, std::string const& trace) {
                          std::vector<coded_text> first, second;
                          std::size_t tokens = 0;
                          for (std::size_t const i : drawn) {
                            auto const &a = learned.first[i], &b = learned.second[i];
                            first.push_back({a.ids, a.types});
                            second.push_back({b.ids, b.types});
                            tokens += a.ids.size() + b.ids.size();
                          }
                          return examples::learned{static_cast<double>(run.train(first, second, settings, trace)), tokens};
                        },
                    .validate = [&] { return ranked(run, unseen).reciprocal_rank; },
                    .measure = {.name = "mrr", .label = "MRR", .higher_is_better = true},
                    .improved =
                        [&] {
                          said.save(f.out, compiled().hidden);
                          save_trained(f.out, run, folder, "Model", {{"architectures", {compiled().model_class + "Model"}}});
                        },
                    .common = {{"--model", sum_of(folder)}}};
  auto const result = finetuned(run, given, f, of);
  tx::io::print(line() + " over " + std::to_string(unseen.size()) + " pairs, " + run_told(result, f));
}

}  // namespace bert
