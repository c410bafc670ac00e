// answer: learns to find answers in texts, says how well they are found, and finds them.
#include "../command_line/program.hpp"
#include "commands.hpp"
#include "finetuning.hpp"
#include "judged.hpp"
#include "questions.hpp"
#include "tuning.hpp"

#include <tx/io/standard_streams.hpp>

#include <cstdio>

namespace bert {
namespace {

struct asked_questions {
  std::vector<question> questions;
  std::vector<coded_question> parts;  // of one question after the other
  std::vector<std::size_t> first{0};  // of question k: parts [first[k], first[k + 1])

  asked_questions(std::string const& file, bool answered, tx::text::tokenizer const& words, int longest) : questions(read_questions(file, answered)) {
    for (auto const& q : questions) {
      for (auto& part : encode(q, words, longest)) parts.push_back(std::move(part));
      first.push_back(parts.size());
    }
  }
  std::span<coded_question const> parts_of(std::size_t k) const { return std::span(parts).subspan(first[k], first[k + 1] - first[k]); }
};

std::vector<std::string> told_answers(answerer& run, asked_questions const& of, bool must_answer) {
  std::vector<coded_text> texts;
  for (auto const& part : of.parts) texts.push_back({part.text.ids, part.text.types});
  auto const logits = run.logits(texts);
  std::vector<std::string> out;
  std::size_t before = 0;
  for (std::size_t k = 0; k < of.questions.size(); ++k) {
    std::size_t count = 0;
    for (auto const& part : of.parts_of(k)) count += 2 * part.text.ids.size();
    out.push_back(told_answer(of.questions[k], of.parts_of(k), std::span(logits).subspan(before, count), must_answer));
    before += count;
  }
  return out;
}

// Means over questions.
answer_scores scored_answers(answerer& run, asked_questions const& of, bool must_answer) {
  auto const told = told_answers(run, of, must_answer);
  answer_scores sum;
  for (std::size_t k = 0; k < told.size(); ++k) {
    auto const one = scores_of(told[k], of.questions[k].answers);
    sum.exact += one.exact;
    sum.f1 += one.f1;
  }
  auto const count = static_cast<double>(told.size());
  return {sum.exact / count, sum.f1 / count};
}

std::string answer_line(answer_scores const& s, std::size_t questions) {
  char text[100];
  std::snprintf(text, sizeof text, "exact match %.4f  F1 %.4f of %zu questions", s.exact, s.f1, questions);
  return text;
}

void learn_answers(command_line::options const& given) {
  std::string const model = given.text("model");
  finetuning const f(given);
  check_tuning_options(given);
  bool const must = given.has("must-answer");
  auto const made = make_answerer(engine_of(given, f.seed), true);
  answerer& run = *made;
  check_folder(model);
  auto const folder = tx::io::model_folder::open(model);
  auto const words = load_tokenizer(model, given);
  asked_questions const learned(f.data, true, words, f.longest), unseen(f.dev, true, words, compiled().longest);
  f.check_count(learned.questions.size(), "questions");

  auto const holds = held_folder(given);
  begin_with(folder, run, given, "QuestionAnswering");
  auto const without = std::ranges::count_if(learned.parts, [](coded_question const& q) { return q.last == 0; });
  std::fprintf(stderr, "%zu questions in %zu parts of at most %d tokens, %zu of them without an answer, %zu questions for validation\n", learned.questions.size(),
               learned.parts.size(), f.longest, static_cast<std::size_t>(without), unseen.questions.size());
  examples const of{.count = learned.parts.size(),
                    .learn =
                        [&](std::span<std::size_t const> drawn, step_settings const& settings, std::string const& trace) {
                          std::vector<coded_text> texts;
                          std::vector<std::int32_t> first, last;
                          std::size_t tokens = 0;
                          for (std::size_t const i : drawn) {
                            auto const& q = learned.parts[i];
                            texts.push_back({q.text.ids, q.text.types});
                            first.push_back(q.first);
                            last.push_back(q.last);
                            tokens += q.text.ids.size();
                          }
                          return examples::learned{static_cast<double>(run.train(texts, first, last, settings, trace)), tokens};
                        },
                    .validate = [&] { return scored_answers(run, unseen, must).f1; },
                    .measure = {.name = "f1", .label = "F1", .higher_is_better = true},
                    .improved = [&] { save_trained(f.out, run, folder, "QuestionAnswering", {{"architectures", {compiled().model_class + "ForQuestionAnswering"}}}); },
                    .common = {{"--model", sum_of(folder)}, {"--must-answer", std::to_string(must)}}};
  auto const result = finetuned(run, given, f, of);
  tx::io::print(answer_line(scored_answers(run, unseen, must), unseen.questions.size()) + ", " + run_told(result, f));
}

// Of a trained folder: how well answers are found, where some are given, or what they are.
void use_answers(command_line::options const& given, std::string const& file, bool answered) {
  std::string const model = given.text("model");
  auto const run = make_answerer(engine_of(given), false);
  load_trained(model, *run, "questions", "answer");
  asked_questions const of(file, answered, load_tokenizer(model, given), compiled().longest);
  bool const must = given.has("must-answer");
  if (answered) return tx::io::print(answer_line(scored_answers(*run, of, must), of.questions.size()) + '\n');
  auto const told = told_answers(*run, of, must);
  std::string out;
  for (std::size_t k = 0; k < told.size(); ++k) out += nlohmann::json{{"id", of.questions[k].id}, {"prediction_text", told[k]}}.dump() + '\n';
  tx::io::print(out);
}

}  // namespace

void answer_command(std::span<std::string const> arguments) {
  auto const known = finetuning_options("what it learns from: JSON lines as SQuAD's, with question, context and answers", "the same, by which the best state is kept; with --model alone how well they are found",
                                        with_tuning_options({{"model", "DIR", "a folder of Hugging Face's, whose weights it begins with, or one that answer wrote"},
                                                             {"text", "FILE", "JSON lines with question and context, to be answered: printed as JSON lines with id and prediction_text"},
                                                             {"must-answer", "", "it never says that a context has no answer"}}));
  command_line::options const given(arguments, known);
  if (command_line::helped(given,
                           with_tuning("usage: bert answer --model DIR --data FILE --dev FILE --out DIR [option...]    learns to find answers in texts\n"
                                       "       bert answer --model DIR --dev FILE                                      exact match and F1, as SQuAD counts them\n"
                                       "       bert answer --model DIR --text FILE                                     finds answers\n"),
                           known))
    return;
  bool const learns = given.has("data") || given.has("out");
  if (given.has("text") && (learns || given.has("dev"))) throw tx::value_error("--text is answered by a trained model, and goes with --model alone. FIX: leave out --data, --dev and --out");
  if (given.has("text")) use_answers(given, given.text("text"), false);
  else if (learns) learn_answers(given);
  else use_answers(given, given.text("dev"), true);
}

}  // namespace bert
