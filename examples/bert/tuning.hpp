// What commands do about a model of which a part is trained: its options, where it begins, and what it leaves.
#pragma once

#include "finetuning.hpp"

#include <nlohmann/json.hpp>

namespace bert {

// An option of the commands that train what tx_add_bert was told. Throws value_error where it is given to a program that was not compiled with it.
command_line::option layer_decay_option();
void check_layer_decay(command_line::options const& given, description::training const& of = compiled().tuning);
// A usage, and behind it what of the model the program trains.
std::string with_tuning(std::string usage);

// A folder's weights, for a model that may have a head of its own; says which tensors are fresh. Adapters begin anew. Throws format_error for a fresh tensor that
// is not trained.
void begin_with(tx::io::model_folder const& folder, trained_run const& run);

// A folder that transformers opens. Of a model with adapters they are merged into its weights, and stand by themselves in `to`/adapter, as PEFT has them. task:
// as trained_config takes it, "SequenceClassification"; `changes` are those of config.json.
void save_trained(std::filesystem::path const& to, trained_run const& run, tx::io::model_folder const& from, std::string const& task, nlohmann::json const& changes);

}  // namespace bert
