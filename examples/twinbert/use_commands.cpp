// score, encode, eval and bench: what a trained model is for.
#include "commands.hpp"
#include "evaluate.hpp"
#include "folder.hpp"
#include "../command_line/program.hpp"

#include <tx/io/files.hpp>
#include <tx/io/standard_streams.hpp>
#include <tx/text/lines.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace twinbert {
namespace {

using command_line::append, command_line::helped, command_line::option, command_line::options;

struct loaded {
  model_config config;  // first: config.json tells another program's model from this one's best
  tokenizer words;
  std::unique_ptr<engine> made;
  engine& run;

  loaded(std::string const& folder, options const& given) : loaded(folder, given, static_cast<int>(given.integer("threads", 0, 0, 1024))) {}
  loaded(std::string const& folder, options const& given, int threads)
      : config(read_config(folder, compiled())), words(load_vocabulary(folder, compiled(), config)), made(make_engine({1, threads, command_line::device_of(given)}, config.layers)), run(*made) {
    read_parameters(folder, run);
  }
};

option const model_option{"model", "DIR", "a folder that train wrote"};
option const help_option{"help", "", "print this"};

// --side and --text of a command.
side side_of(options const& given) {
  std::string const& name = given.text("side");
  if (name != "query" && name != "doc") throw tx::value_error("--side is query or doc, not '" + name + "'");
  return name == "query" ? side::query : side::document;
}
std::vector<std::string_view> texts_of(std::string const& file, std::string const& path) {
  std::vector<std::string_view> texts;
  tx::text::for_each_line(file, [&](std::string_view line, std::size_t number) {
    if (!tx::io::is_utf8(line)) throw tx::format_error(path + ':' + std::to_string(number) + ": not UTF-8");
    texts.push_back(line);
  });
  return texts;
}

}  // namespace

void score_command(std::span<std::string const> arguments) {
  option const known[] = {
      model_option, {"pairs", "FILE", "query<TAB>document[<TAB>label], labels unused"}, command_line::threads_option, command_line::device_option, help_option};
  options const given(arguments, known);
  if (helped(given,
             "usage: twinbert score --model DIR --pairs FILE\n"
             "Prints how well each pair matches, one score a line, in order.\n\n",
             known))
    return;
  loaded model(given.text("model"), given);
  std::string out;
  for (float const s : score_pairs(model.run, model.words, tx::text::read_pairs(given.text("pairs")))) {
    append(out, s);
    out += '\n';
  }
  tx::io::print(out);
}

void encode_command(std::span<std::string const> arguments) {
  option const known[] = {model_option,
                          {"side", "query|doc", "what the texts are"},
                          {"text", "FILE", "a text a line"},
                          command_line::threads_option,
                          command_line::device_option,
                          help_option};
  options const given(arguments, known);
  if (helped(given,
             "usage: twinbert encode --model DIR --side query|doc --text FILE\n"
             "Prints each text's vector, one JSON array a line.\n\n",
             known))
    return;
  side const s = side_of(given);
  loaded model(given.text("model"), given);
  std::string const file = tx::io::read_text(given.text("text"));
  auto const vectors = encode_texts(model.run, model.words, s, texts_of(file, given.text("text")));
  auto const hidden = static_cast<std::size_t>(compiled().hidden);
  std::string out;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    out += i % hidden == 0 ? "[" : ",";
    append(out, vectors[i]);
    if (i % hidden + 1 == hidden) out += "]\n";
  }
  tx::io::print(out);
}

void eval_command(std::span<std::string const> arguments) {
  option const known[] = {{"model", "DIR", "a folder that train wrote; may be given several times", true},
                          {"pairs", "FILE", "query<TAB>document[<TAB>label]; may be given several times", true},
                          command_line::threads_option,
                          command_line::device_option,
                          help_option};
  options const given(arguments, known);
  if (helped(
          given,
          "usage: twinbert eval --model DIR... --pairs FILE...\n"
          "Prints the area under the ROC curve of labelled pairs and, where every query has a match, recall@1: the\n"
          "share of queries whose match is the nearest of the file's documents. Without labels each query's document\n"
          "is compared with all others.\n\n",
          known))
    return;
  std::size_t width = 0;
  std::vector<std::vector<tx::text::pair>> files;
  for (auto const& file : given.all("pairs")) {
    width = std::max(width, file.size());
    files.push_back(tx::text::read_pairs(file));
  }
  for (auto const& folder : given.all("model")) {
    loaded model(folder, given);
    tx::io::print(folder + '\n');
    for (std::size_t i = 0; i < files.size(); ++i) {
      quality const q = evaluate(model.run, model.words, files[i], true);
      std::string name = given.all("pairs")[i];
      name.resize(width, ' ');
      char line[160];
      std::snprintf(line, sizeof line, "  AUC %.4f over %zu pairs", q.auc, q.pairs);
      tx::io::print("  " + name + line);
      if (q.recall) {
        std::snprintf(line, sizeof line, "  recall@1 %.4f of %zu documents", *q.recall, q.documents);
        tx::io::print(line);
      }
      tx::io::print("\n");
    }
  }
}

void bench_command(std::span<std::string const> arguments) {
  option const known[] = {model_option,
                          {"side", "query|doc", "what the texts are"},
                          {"text", "FILE", "a text a line, taken in turn"},
                          {"runs", "N", "texts to time (500)"},
                          {"threads", "N", "(1)"},
                          command_line::device_option,
                          help_option};
  options const given(arguments, known);
  if (helped(given,
             "usage: twinbert bench --model DIR --side query|doc --text FILE\n"
             "Prints how long one text takes from its letters to its vector: the median and the 99th percentile.\n\n",
             known))
    return;
  side const s = side_of(given);
  auto const runs = static_cast<std::size_t>(given.integer("runs", 500, 1, 1000000));
  std::string const file = tx::io::read_text(given.text("text"));
  auto const texts = texts_of(file, given.text("text"));
  if (texts.empty()) throw tx::value_error(given.text("text") + " holds no text");
  auto const threads = given.integer("threads", 1, 1, 1024);
  loaded model(given.text("model"), given, static_cast<int>(threads));
  std::vector<double> ms;
  for (std::size_t i = 0; i < runs + 20; ++i) {  // the first ones warm up
    auto const start = std::chrono::steady_clock::now();
    encode_texts(model.run, model.words, s, std::span(texts).subspan(i % texts.size(), 1));
    double const passed = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (i >= 20) ms.push_back(passed);
  }
  std::ranges::sort(ms);
  char line[120];
  std::snprintf(line, sizeof line, "p50 %.3f ms, p99 %.3f ms over %zu texts, %d thread%s\n", ms[runs / 2], ms[runs * 99 / 100], runs,
                static_cast<int>(threads), threads == 1 ? "" : "s");
  tx::io::print(line);
}

}  // namespace twinbert
