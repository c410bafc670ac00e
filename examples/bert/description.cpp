// What the program was compiled for, as the rest of it reads it.
#include "engine.hpp"

#include TX_BERT_MODEL_HEADER

#include <tx/io/check_config.hpp>

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
  static description const d{std::string(model::family::name.view()),
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
                             {tuned::rank, tuned::alpha, tuned::dropout, texts_of(tuned::adapted{}), texts_of(tuned::trained{}), texts_of(tuned::frozen{}), tuned::layer_decay, tuned::accumulate, tuned::average, tuned::optimizer_name}};
  return d;
}

void check_folder(std::string const& folder) { tx::io::check_config<model::config>(tx::io::model_folder::open(folder), {model::model_type}); }

}  // namespace bert
