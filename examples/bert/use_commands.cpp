// predict, eval, embed and tokens: what a model is for.
#include "../command_line/processes.hpp"
#include "../command_line/program.hpp"
#include "commands.hpp"
#include "judged.hpp"
#include "training.hpp"

#include <tx/io/pretrained.hpp>
#include <tx/io/sentence_modules.hpp>
#include <tx/io/standard_streams.hpp>

#include <cmath>
#include <cstdio>

namespace bert {
namespace {

using command_line::append, command_line::helped, command_line::option, command_line::options;
using tx::text::labels;

option const model_option{"model", "DIR", "a folder of Hugging Face's, or one that finetune wrote"};
option const help_option{"help", "", "print this"};

// The end of what --help says first.
std::string cut_told() { return "Texts of more than " + std::to_string(compiled().longest) + " tokens are cut there, and counted on standard error.\n\n"; }

// A folder with a head that was trained, and what it is for.
struct trained {
  std::unique_ptr<classifier> run;
  tx::text::tokenizer words;
  std::vector<std::string> names;

  explicit trained(options const& given) : trained(given.text("model"), given) {}
  trained(std::string const& folder, options const& given)
      : run(make_classifier(engine_of(given), false)), words((check_folder(folder), load_tokenizer(folder, given))) {
    auto const of = load_trained(folder, *run, "labels", "finetune");
    if (!compiled().regression()) names = trained_labels(of, compiled().labels);
  }
};

// Processes that look at parts of one file have the same file, and the same model.
void check_same_files(std::string const& model, std::string const& texts) {
  auto& all = command_line::processes::now();
  if (all.several()) all.check_same({{"--model", sum_of(tx::io::model_folder::open(model))}, {texts, sum_of(texts)}});
}

// Each process looks at a part of the texts. On the first [texts, labels] of all, on others nothing.
std::vector<float> logits_of_all(classifier& run, std::span<tx::text::encoding const> texts) {
  auto& all = command_line::processes::now();
  auto const [first, end] = all.part(texts.size());
  return all.gathered(run.logits(coded_texts(texts.subspan(first, end - first))));
}

}  // namespace

void predict_command(std::span<std::string const> arguments) {
  option const known[] = {model_option, {"text", "FILE", "a text a line, or two with a tab between them, or JSON lines"},
                          {"scores", "", "of pairs of texts and two labels: prints text<TAB>text<TAB>probability of the second label, which a student may learn from"},
                          fewer_ids_option,
                          command_line::device_option,
                          command_line::threads_option,
                          help_option};
  options const given(arguments, known);
  if (helped(given,
             called("usage: bert predict --model DIR --text FILE [--scores]\n"
                    "Prints the label of each text, its probability and the text, with tabs between them; of a regression its number and the text.\n") +
                 cut_told(),
             known))
    return;
  trained model(given);
  check_same_files(given.text("model"), given.text("text"));
  auto const texts = tx::text::read_labelled_texts(given.text("text"), labels::none);
  bool const scores = given.has("scores");
  if (scores && (compiled().labels != 2 || !texts.front().pair))
    throw tx::value_error("--scores are of pairs of texts, by a program of two labels. FIX: text<TAB>text, and tx_add_bert(... HEADS sequence=2)");
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::string const* const t : {&texts[i].text, texts[i].pair ? &*texts[i].pair : nullptr})
      if (t != nullptr && t->find_first_of("\t\n\r") != std::string::npos)
        throw tx::format_error(given.text("text") + ':' + std::to_string(i + 1) +
                               ": the text has a tab or an end of a line, which the lines that predict prints cannot hold. FIX: a space in its place");
  say_pairs(texts, given.text("text"), model.names);
  auto const coded = encode(texts, given.text("text"), model.words, compiled().longest);
  say_cut(coded, given.text("text"), compiled().longest);
  auto const told = judged(logits_of_all(*model.run, coded), {});
  if (!command_line::processes::now().first()) return;
  std::string out;
  if (scores) {
    auto const second = told.second();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      out += texts[i].text + '\t' + *texts[i].pair + '\t';
      append(out, second[i]);
      out += '\n';
    }
    return tx::io::print(out);
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (compiled().regression()) {
      append(out, told.numbers[i]);
    } else {
      out += model.names[static_cast<std::size_t>(told.labels[i])] + '\t';
      append(out, told.probabilities[i]);
    }
    out += '\t' + texts[i].text + (texts[i].pair ? '\t' + *texts[i].pair : "") + '\n';
  }
  tx::io::print(out);
}

void eval_command(std::span<std::string const> arguments) {
  option const known[] = {model_option, {"data", "FILE", "label<TAB>text[<TAB>text], or JSON lines with label, text and perhaps pair"}, fewer_ids_option, command_line::device_option, command_line::threads_option, help_option};
  options const given(arguments, known);
  if (helped(given,
             called("usage: bert eval --model DIR --data FILE\n"
                    "Prints how well labels are told: accuracy, the mean of the labels' F1, Matthews' correlation and of two labels the AUC, and precision, recall and\n"
                    "F1 of each label; of numbers Pearson's and Spearman's correlation.\n") +
                 cut_told(),
             known))
    return;
  trained model(given);
  check_same_files(given.text("model"), given.text("data"));
  auto const texts = tx::text::read_labelled_texts(given.text("data"));
  dataset const labelled = encode(texts, given.text("data"), model.words, model.names, compiled().longest);
  say_cut(labelled.texts, given.text("data"), compiled().longest);
  auto const logits = logits_of_all(*model.run, labelled.texts);
  if (logits.empty()) return;
  auto const told = judged(logits, labelled.targets);
  char line[200];
  if (compiled().regression()) {
    std::snprintf(line, sizeof line, "Pearson %.4f  Spearman %.4f  over %zu texts\n", pearson(told.numbers, told.targets), spearman(told.numbers, told.targets), texts.size());
    return tx::io::print(line);
  }
  auto const scores = told.scores();
  std::snprintf(line, sizeof line, "accuracy %.4f  macro F1 %.4f  Matthews %.4f  ", scores.accuracy(), scores.mean_f1(), scores.matthews());
  std::string first = line;
  if (auto const area = told.area_under_curve()) {
    std::snprintf(line, sizeof line, "AUC %.4f  ", *area);
    first += line;
  }
  tx::io::print(first + "over " + std::to_string(texts.size()) + " texts\n");
  std::size_t width = 0;
  for (auto const& name : model.names) width = std::max(width, name.size());
  for (std::size_t k = 0; k < model.names.size(); ++k) {
    std::snprintf(line, sizeof line, "  precision %.4f  recall %.4f  F1 %.4f  of %zu texts\n", scores.precision(k), scores.recall(k), scores.f1(k), scores.texts(k));
    tx::io::print("  " + model.names[k] + std::string(width - model.names[k].size(), ' ') + line);
  }
}

void embed_command(std::span<std::string const> arguments) {
  option const known[] = {model_option,
                          {"text", "FILE", "a text a line"},
                          {"pool", "mean|cls", "of its tokens' vectors (default: what the folder of sentence-transformers says, or mean)"},
                          {"normalize", "yes|no", "to length 1 (default: what the folder says, or no)"},
                          {"bf16", "", "products of halves, of a program that was compiled to: faster, numbers differ by about a thousandth"},
                          fewer_ids_option,
                          command_line::device_option,
                          command_line::threads_option,
                          help_option};
  options const given(arguments, known);
  if (helped(given,
             called("usage: bert embed --model DIR --text FILE [--pool mean|cls] [--normalize yes|no] [--bf16]\n"
                    "Prints each text's vector, one JSON array a line.\n") +
                 cut_told(),
             known))
    return;
  std::string const folder = given.text("model");
  auto const run = make_embedder(engine_of(given), given.has("bf16"));
  check_folder(folder);
  auto const choice = [&](char const* name, std::string_view one, std::string_view other, bool otherwise) {
    if (!given.has(name)) return otherwise;
    std::string const& said = given.text(name);
    if (said != one && said != other) throw tx::value_error("--" + std::string(name) + " is " + std::string(one) + " or " + std::string(other) + ", not '" + said + "'");
    return said == one;
  };
  auto const said = tx::io::sentence_modules::of(folder);
  bool const mean = choice("pool", "mean", "cls", !said.first_token), unit = choice("normalize", "yes", "no", said.normalize);
  auto const words = load_tokenizer(folder, given);
  run->change([&](std::vector<named_tensor> const& tensors) {
    auto const report = tx::io::load_pretrained(tx::io::model_folder::open(folder), tensors, compiled().family);
    if (!report.fresh.empty()) throw tx::format_error(folder + " lacks " + report.fresh.front());
  });

  check_same_files(folder, given.text("text"));
  auto const texts = tx::text::read_labelled_texts(given.text("text"), labels::none);
  int const longest = said.longest > 0 ? std::min(said.longest, compiled().longest) : compiled().longest;
  auto const coded = encode(texts, given.text("text"), words, longest);
  say_pairs(texts, given.text("text"), {});
  say_cut(coded, given.text("text"), longest);
  auto& all = command_line::processes::now();
  auto const [begin, end] = all.part(texts.size());  // each process makes vectors of a part of the texts
  auto const vectors = run->embed(coded_texts(std::span(coded).subspan(begin, end - begin)), mean ? embedder::pooling::mean : embedder::pooling::first);
  auto const width = static_cast<std::size_t>(compiled().hidden);
  std::string out;
  for (std::size_t t = 0; t < end - begin; ++t) {
    auto const v = std::span(vectors).subspan(t * width, width);
    double length = 0;
    for (float const x : v) length += static_cast<double>(x) * static_cast<double>(x);
    float const scale = unit ? static_cast<float>(1 / std::max(std::sqrt(length), 1e-12)) : 1.0f;
    for (std::size_t i = 0; i < width; ++i) {
      out += i == 0 ? '[' : ',';
      append(out, v[i] * scale);
    }
    out += "]\n";
  }
  tx::io::print(all.gathered(out));
}

void tokens_command(std::span<std::string const> arguments) {
  option const known[] = {model_option, {"text", "FILE", "a text a line, or two with a tab between them"}, fewer_ids_option, help_option};
  options const given(arguments, known);
  if (helped(given, called("usage: bert tokens --model DIR --text FILE\nPrints the ids of each text, a line for each.\n") + cut_told(), known)) return;
  auto const words = load_tokenizer(given.text("model"), given);
  std::string out;
  auto const coded = encode(tx::text::read_labelled_texts(given.text("text"), labels::none), given.text("text"), words, compiled().longest);
  say_cut(coded, given.text("text"), compiled().longest);
  for (auto const& e : coded) {
    for (std::size_t i = 0; i < e.ids.size(); ++i) out += (i == 0 ? "" : " ") + std::to_string(e.ids[i]);
    out += '\n';
  }
  tx::io::print(out);
}

}  // namespace bert
