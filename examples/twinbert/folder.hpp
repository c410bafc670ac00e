// A model's folder: config.json, model.safetensors and the vocabulary.
#pragma once

#include "config_file.hpp"
#include "tokenizer.hpp"

#include <string>
#include <vector>

namespace twinbert {

// What training writes there, beside its saved states.
std::vector<std::string> model_files(description const& d);

void write_config(std::string const& folder, description const& d, bool layers);  // the vocabulary is written before
void write_parameters(std::string const& folder, engine const& e);

// Throws unless config.json describes the compiled model.
model_config read_config(std::string const& folder, description const& d);
// Throws unless it is the vocabulary that the model was trained with, by its checksum in config.json; where that has
// none, any that fits.
tokenizer load_vocabulary(std::string const& folder, description const& d, model_config const& c);
// Throws for missing, unknown and misshapen tensors.
void read_parameters(std::string const& folder, engine& e);

}  // namespace twinbert
