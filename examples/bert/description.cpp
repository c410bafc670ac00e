// What the program was compiled for, as the rest of it reads it.
#include "engine.hpp"

#include TX_BERT_MODEL_HEADER

#include <tx/io/check_config.hpp>

namespace bert {

description const& compiled() {
  using model::config;
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
                             model::longest};
  return d;
}

void check_folder(std::string const& folder) { tx::io::check_config<model::config>(tx::io::model_folder::open(folder), {model::model_type}); }

}  // namespace bert
