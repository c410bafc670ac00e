// What the program was compiled for, as the rest of it reads it.
#include "engine.hpp"

#include TX_BERT_MODEL_HEADER

#include <tx/io/check_config.hpp>
#include <tx/io/checkpoint_folder.hpp>

namespace bert {
namespace {

template <tx::fixed_string... Names>
std::vector<std::string> texts_of(tx::names<Names...>) {
  return {std::string(Names.view())...};
}

}  // namespace

description const& compiled() {
  using model::config;
  using tuned = model::tuning;
  static description const d{model::program,
                             std::string(model::family::name.view()),
                             model::model_class,
                             config::layers,
                             config::hidden,
                             config::heads,
                             config::ffn,
                             config::vocabulary,
                             config::positions,
                             model::labels,
                             model::tags,
                             model::predictions,
                             model::batch,
                             model::train_longest,
                             model::longest,
                             {tuned::rank, tuned::alpha, tuned::dropout, texts_of(tuned::adapted{}), texts_of(tuned::trained{}), texts_of(tuned::frozen{}), tuned::layer_decay, tuned::accumulate, tuned::average, tuned::optimizer_name, tuned::tensor}};
  return d;
}

std::string called(std::string text) {
  static constexpr std::string_view word = "bert ";
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + compiled().program.size()))
    if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n') text.replace(at, word.size() - 1, compiled().program);
  return text;
}

void check_folder(std::string const& folder) {
  std::filesystem::path const path = folder;
  std::error_code none;
  if (std::filesystem::is_directory(path, none) && !std::filesystem::exists(path / "config.json", none) && tx::io::has_checkpoint(path / "checkpoints"))
    throw tx::format_error(folder + " is of a run that has not ended and has no model yet. FIX: the same command with --resume");
  tx::io::check_config<model::config>(tx::io::model_folder::open(folder), {model::model_type});
}

}  // namespace bert
