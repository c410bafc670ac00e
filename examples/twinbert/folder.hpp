// A model's folder: config.json, model.safetensors and the vocabulary.
#pragma once

#include "engine.hpp"

#include <string>

namespace twinbert {

// Makes a folder for a new model. Throws if it holds anything, unless `force` allows writing over a model in it.
void prepare_folder(std::string const& folder, bool force);
// Renames what is at `folder` to `folder`.1, or .2 and so on where that exists. Returns the new name; empty if there
// was nothing.
std::string set_aside(std::string const& folder);

void write_config(std::string const& folder, description const& d, bool layers);
void write_parameters(std::string const& folder, engine const& e);

// Whether the folder's model has an encoder. Throws unless config.json describes the compiled model.
bool read_config(std::string const& folder, description const& d);
// Throws for missing, unknown and misshapen tensors.
void read_parameters(std::string const& folder, engine const& e);

}  // namespace twinbert
