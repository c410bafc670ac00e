// config.json of a model's folder: one flat JSON object that says what the model was compiled for.
#pragma once

#include "engine.hpp"

#include <map>
#include <string>
#include <string_view>

namespace twinbert {

inline constexpr std::size_t max_config = 1 << 20;  // bytes; a longer file is no config.json

// What a model's config.json says that is not compiled in.
struct model_config {
  bool layers;             // has it an encoder?
  std::string vocabulary;  // CRC-64 of the vocabulary's file, 16 hexadecimal digits; empty where the key is missing

  friend bool operator==(model_config const&, model_config const&) = default;
};

std::string config_text(description const& d, model_config const& c);

// `source` stands for the file's name in messages. Throws format_error for
// what is no flat object or lacks a key, value_error for another model than the compiled one.
model_config parse_config(std::string_view text, std::string const& source, description const& d);

// The members of a JSON object without nested values, each value as JSON text. Throws format_error for anything else,
// and for a key given twice.
std::map<std::string, std::string> parse_flat_json(std::string_view text, std::string const& source);

}  // namespace twinbert
