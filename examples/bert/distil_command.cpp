// distil: a student learns from labels and from a teacher.
#include "../command_line/program.hpp"
#include "commands.hpp"
#include "finetuning.hpp"
#include "judged.hpp"
#include "teacher_layers.hpp"
#include "tuning.hpp"

#include <tx/io/standard_streams.hpp>

#include <cstdio>

namespace bert {
namespace {

std::vector<command_line::option> distil_options() {
  return finetuning_options("what it learns from: label<TAB>text[<TAB>text], or JSON lines with label, text and perhaps pair",
                            "texts that it does not learn from, by which the best state is kept",
                            {{"teacher", "DIR", "a folder that was trained for these labels, of the model that the program was compiled to learn from"},
                             {"model", "DIR", "a folder whose weights the student begins with"},
                             {"config", "DIR", "a folder with config.json and a tokenizer, in place of --model: weights are drawn"},
                             {"teacher-layers", "", "with --config: the student begins with the teacher's embeddings, head and evenly spread layers"},
                             {"temperature", "T", "of the scores, above 0 (default: 2)"},
                             {"hard", "SHARE", "of the texts' own labels in the loss, from 0 to 1; 1 is a student without a teacher's scores (default: 0.5)"},
                             {"hidden", "W", "weight of the teacher's hidden states, for a program that learns from them (default: 1)"},
                             {"attention", "W", "weight of the attention of the teacher's last layer, for a program that learns from it (default: 1)"}});
}

// Teacher and student are given the same ids.
void check_same_ids(dataset const& by_student, dataset const& by_teacher, std::string const& source, std::string const& teacher) {
  for (std::size_t i = 0; i < by_student.texts.size(); ++i)
    if (by_student.texts[i].ids != by_teacher.texts[i].ids)
      throw tx::format_error(source + ':' + std::to_string(i + 1) + ": the tokenizer of " + teacher + " makes other ids of the text than the student's. FIX: a student with the teacher's tokenizer");
}

}  // namespace

void distil_command(std::span<std::string const> arguments) {
  auto const known = distil_options();
  command_line::options const given(arguments, known);
  if (command_line::helped(given,
                           with_updates("usage: bert distil --teacher DIR --config DIR --data FILE --dev FILE --out DIR [option...]\n"
                                        "Trains a model by a larger one's scores of texts beside their labels, and leaves a folder that transformers opens.\n"),
                           known))
    return;
  auto const& d = compiled();
  std::string const wise = given.text("teacher");
  finetuning const f(given);
  if (given.has("model") == given.has("config")) throw tx::value_error("one of --model and --config: a folder with weights to begin with, or one without");
  if (given.has("model") && given.has("teacher-layers")) throw tx::value_error("--model and --teacher-layers exclude each other: both are what the student begins with");
  std::string const from = given.has("model") ? given.text("model") : given.text("config");
  auto const made = make_distiller(engine_of(given, f.seed));
  distiller& run = *made;
  if (given.has("hidden") && !run.hidden_states()) throw tx::value_error("--hidden: this program does not learn from hidden states. FIX: tx_add_bert(... TEACHER config.json HIDDEN_STATES)");
  if (given.has("attention") && !run.attention()) throw tx::value_error("--attention: this program does not learn from attention. FIX: tx_add_bert(... TEACHER config.json ATTENTION)");
  run.learns = {given.number("temperature", 2, 1e-3, 1e3), given.number("hard", 0.5, 0, 1), given.number("hidden", 1, 0, 1e6), given.number("attention", 1, 0, 1e6)};

  check_folder(from);
  auto const folder = tx::io::model_folder::open(from), teacher = tx::io::model_folder::open(wise);
  auto const words = load_tokenizer(from, given), teachers_words = load_tokenizer(wise, given);
  auto const texts = tx::text::read_labelled_texts(f.data), held_out = tx::text::read_labelled_texts(f.dev);
  auto const labels = d.regression() ? std::vector<std::string>{} : trained_labels(teacher, d.labels);
  dataset const learned = encode(texts, f.data, words, labels, f.longest), unseen = encode(held_out, f.dev, words, labels, f.longest);
  check_same_ids(learned, encode(texts, f.data, teachers_words, labels, f.longest), f.data, wise);
  f.check_count(learned.texts.size(), "texts");
  say_cut(learned.texts, f.data, f.longest), say_cut(unseen.texts, f.dev, f.longest);

  run.load_teacher(teacher);

  auto const holds = held_folder(given);
  if (given.has("model") || given.has("teacher-layers")) {
    run.change([&](std::vector<named_tensor> const& tensors) {
      if (given.has("model")) begin_with(folder, run.student(tensors));
      if (given.has("teacher-layers")) copy_teacher_layers(run.student(tensors), run.teacher(tensors));
    });
  }
  judgement const teachers = judged(run.teacher_logits(coded_texts(unseen.texts)), unseen.targets);
  std::fprintf(stderr, "%zu texts, %zu for validation; the teacher: %s\n", learned.texts.size(), unseen.texts.size(), score_line(teachers).c_str());

  auto of_student = labelled_examples(run, learned, unseen, sum_of(folder),
                                      [&] { tx::io::save_model_folder(f.out, run.student(run.held_kept().tensors), folder, trained_config("SequenceClassification", labels)); });
  of_student.common.insert({{"--teacher", sum_of(teacher)}, {"--temperature", exact(run.learns.temperature)},
                            {"--hard", exact(run.learns.hard)}, {"--hidden", exact(run.learns.hidden)}, {"--attention", exact(run.learns.attention)}});
  auto const result = finetuned(run, given, f, of_student);
  tx::io::print("student " + score_line(judged(run.logits(coded_texts(unseen.texts)), unseen.targets)) + "; teacher " + score_line(teachers) + "; over " + std::to_string(unseen.texts.size()) +
                " texts, " + run_told(result, f));
}

}  // namespace bert
