#include "../command_line/program.hpp"
#include "commands.hpp"
#include "dataset.hpp"
#include "finetuning.hpp"
#include "judged.hpp"
#include "tuning.hpp"

#include <tx/io/standard_streams.hpp>

#include <cstdio>

namespace bert {
namespace {

std::vector<command_line::option> finetune_options() {
  return finetuning_options("what it learns from: label<TAB>text[<TAB>text], or JSON lines with label, text and perhaps pair",
                            "texts that it does not learn from, by which the best state is kept",
                            with_tuning_options({{"model", "DIR", "a folder of Hugging Face's, whose weights it begins with"}}));
}

}  // namespace

void finetune_command(std::span<std::string const> arguments) {
  auto const known = finetune_options();
  command_line::options const given(arguments, known);
  if (command_line::helped(given,
                           with_tuning("usage: bert finetune --model DIR --data FILE --dev FILE --out DIR [option...]\n"
                                       "Trains a model with a head for whole texts, and leaves a folder that transformers opens.\n"),
                           known))
    return;
  auto const& d = compiled();
  std::string const model = given.text("model");
  finetuning const f(given);
  check_tuning_options(given);
  auto const made = make_classifier(engine_of(given, f.seed), true);
  classifier& run = *made;
  check_folder(model);
  auto const folder = tx::io::model_folder::open(model);
  auto const words = load_tokenizer(model, given);
  auto const texts = tx::text::read_labelled_texts(f.data), held_out = tx::text::read_labelled_texts(f.dev);
  std::vector<std::string> labels;
  if (!d.regression()) labels = chosen_labels(label_names(texts), labels_of(folder), d.labels, f.data, "sequence", rarest_label(texts));
  dataset const learned = encode(texts, f.data, words, labels, f.longest), unseen = encode(held_out, f.dev, words, labels, f.longest);
  f.check_count(learned.texts.size(), "texts");
  say_cut(learned.texts, f.data, f.longest), say_cut(unseen.texts, f.dev, f.longest);

  auto const holds = held_folder(given);
  begin_with(folder, run, given, "SequenceClassification");
  std::fprintf(stderr, "%zu texts, %zu for validation, %zu tokens in vocabulary, %s\n", learned.texts.size(), unseen.texts.size(), words.size(),
               d.regression() ? "numbers to tell" : (std::to_string(labels.size()) + " labels").c_str());

  auto const result = finetuned(run, given, f,
                                labelled_examples(run, learned, unseen, sum_of(folder),
                                                  [&] { save_trained(f.out, run, folder, "SequenceClassification", trained_config("SequenceClassification", labels)); }));
  tx::io::print(score_line(judged(run.logits(coded_texts(unseen.texts)), unseen.targets)) + " over " + std::to_string(unseen.texts.size()) + " texts, " + run_told(result, f));
}

}  // namespace bert
