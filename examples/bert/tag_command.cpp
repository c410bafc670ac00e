// tag: learns labels of words, says how well they are told, and tells them.
#include "../command_line/program.hpp"
#include "commands.hpp"
#include "entity_scores.hpp"
#include "finetuning.hpp"
#include "judged.hpp"
#include "tagged_texts.hpp"
#include "tuning.hpp"

#include <tx/io/standard_streams.hpp>

#include <cstdio>

namespace bert {
namespace {

using command_line::option;

// The label of each word, by its first token; each has one (check_whole).
std::vector<std::vector<std::string>> told_tags(tagger& run, tagged_dataset const& data, std::span<std::string const> names) {
  auto const logits = run.logits(coded_texts(data.texts));
  std::vector<std::vector<std::string>> out;
  std::size_t before = 0;  // tokens of the texts before
  for (std::size_t t = 0; t < data.texts.size(); ++t) {
    auto& tags = out.emplace_back();
    for (int const first : data.first[t]) {
      auto const of = std::span(logits).subspan((before + static_cast<std::size_t>(first)) * names.size(), names.size());
      tags.push_back(names[static_cast<std::size_t>(std::ranges::max_element(of) - of.begin())]);
    }
    before += data.texts[t].ids.size();
  }
  return out;
}

entity_scores scored_tags(tagger& run, tagged_dataset const& data, std::span<tagged_text const> texts, std::span<std::string const> names) {
  entity_scores scores;
  auto const told = told_tags(run, data, names);
  for (std::size_t t = 0; t < texts.size(); ++t) scores.add(texts[t].tags, told[t]);
  return scores;
}

std::string tag_line(entity_scores const& s, bool entities) {
  char text[160];
  std::snprintf(text, sizeof text, "accuracy %.4f of %.0f words", s.accuracy(), s.words());
  std::string out = text;
  if (entities) {
    std::snprintf(text, sizeof text, "  precision %.4f  recall %.4f  F1 %.4f of %.0f entities", s.precision(), s.recall(), s.f1(), s.entities());
    out += text;
  }
  return out;
}

void learn_tags(command_line::options const& given) {
  auto const& d = compiled();
  std::string const model = given.text("model");
  finetuning const f(given);
  check_tuning_options(given);
  auto const made = make_tagger(engine_of(given, f.seed), true);
  tagger& run = *made;
  check_folder(model);
  auto const folder = tx::io::model_folder::open(model);
  auto const words = load_tokenizer(model, given);
  auto const texts = read_tagged_texts(f.data), dev_texts = read_tagged_texts(f.dev);
  auto const names = chosen_labels(tag_names(texts), labels_of(folder), d.tags, f.data, "token");
  bool const entities = marks_entities(names);
  tagged_dataset const learned = encode_words(texts, f.data, words, names, f.longest), unseen = encode_words(dev_texts, f.dev, words, names, d.longest);
  check_whole(unseen, dev_texts, f.dev, d.longest);
  f.check_count(texts.size(), "texts");

  auto const holds = held_folder(given);
  begin_with(folder, run, given, "TokenClassification");
  std::fprintf(stderr, "%zu texts, %zu for validation, %zu tokens in vocabulary, %zu labels\n", texts.size(), dev_texts.size(), words.size(), names.size());

  examples const of{.count = texts.size(),
                    .learn =
                        [&](std::span<std::size_t const> drawn, step_settings const& settings, std::string const& trace) {
                          std::vector<coded_text> batch;
                          std::vector<std::int32_t> labels;
                          for (std::size_t const i : drawn) {
                            batch.push_back({learned.texts[i].ids, learned.texts[i].types});
                            labels.insert(labels.end(), learned.labels[i].begin(), learned.labels[i].end());
                          }
                          return examples::learned{static_cast<double>(run.train(batch, labels, settings, trace)), labels.size()};
                        },
                    .validate =
                        [&] {
                          auto const scores = scored_tags(run, unseen, dev_texts, names);
                          return entities ? scores.f1() : scores.accuracy();
                        },
                    .measure = {.name = entities ? "f1" : "accuracy", .label = entities ? "F1" : "accuracy", .higher_is_better = true},
                    .improved = [&] { save_trained(f.out, run, folder, "TokenClassification", trained_config("TokenClassification", names)); },
                    .common = {{"--model", sum_of(folder)}}};
  auto const result = finetuned(run, given, f, of);
  tx::io::print(tag_line(scored_tags(run, unseen, dev_texts, names), entities) + ", " + run_told(result, f));
}

// Of a trained folder: how well labels are told, where there are some, or what they are.
void use_tags(command_line::options const& given, std::string const& file, tx::text::labels wanted) {
  auto const& d = compiled();
  std::string const model = given.text("model");
  auto const run = make_tagger(engine_of(given), false);
  auto const folder = load_trained(model, *run, "labels of words", "tag");
  auto const words = load_tokenizer(model, given);
  auto const names = trained_labels(folder, d.tags);
  auto const texts = read_tagged_texts(file, wanted);
  tagged_dataset const data = encode_words(texts, file, words, names, d.longest);
  check_whole(data, texts, file, d.longest);
  if (wanted == tx::text::labels::required) return tx::io::print(tag_line(scored_tags(*run, data, texts, names), marks_entities(names)) + '\n');
  auto const told = told_tags(*run, data, names);
  std::string out;
  for (std::size_t t = 0; t < texts.size(); ++t) {
    for (std::size_t w = 0; w < texts[t].words.size(); ++w) out += texts[t].words[w] + '\t' + told[t][w] + '\n';
    if (t + 1 < texts.size()) out += '\n';
  }
  tx::io::print(out);
}

}  // namespace

void tag_command(std::span<std::string const> arguments) {
  auto const known = finetuning_options("what it learns from: word<TAB>label, an empty line between two texts", "the same, by which the best state is kept; with --model alone how well they are told",
                                        with_tuning_options({{"model", "DIR", "a folder of Hugging Face's, whose weights it begins with, or one that tag wrote"},
                                                             {"text", "FILE", "words, a line each, to be labelled: printed as word<TAB>label"}}));
  command_line::options const given(arguments, known);
  if (command_line::helped(given,
                           with_tuning("usage: bert tag --model DIR --data FILE --dev FILE --out DIR [option...]    learns labels of words\n"
                                       "       bert tag --model DIR --dev FILE                                      accuracy, and of labels O, B-KIND and I-KIND the entities' F1\n"
                                       "       bert tag --model DIR --text FILE                                     tells labels\n"),
                           known))
    return;
  bool const learns = given.has("data") || given.has("out");
  if (given.has("text") && (learns || given.has("dev"))) throw tx::value_error("--text is told labels by a trained model, and goes with --model alone. FIX: leave out --data, --dev and --out");
  if (given.has("text")) use_tags(given, given.text("text"), tx::text::labels::none);
  else if (learns) learn_tags(given);
  else use_tags(given, given.text("dev"), tx::text::labels::required);
}

}  // namespace bert
