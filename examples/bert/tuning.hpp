// What commands do about a model of which a part is trained: its options, where it begins, and what it leaves.
#pragma once

#include "finetuning.hpp"

#include <nlohmann/json.hpp>

namespace bert {

// Options of the commands that train what tx_add_bert was told, behind their own. Throws value_error where one is given to a program that was not compiled for it.
std::vector<command_line::option> with_tuning_options(std::vector<command_line::option> own);
void check_tuning_options(command_line::options const& given, description::training const& of = compiled().tuning);
// A usage, and behind it what of the model the program trains, and how; of a command that always trains all.
std::string with_tuning(std::string usage);
std::string with_updates(std::string usage);

// A folder's weights, for a model that may have a head of its own; says which tensors are fresh. Throws format_error for a fresh tensor that is not trained.
// Adapters, and what is trained beside them, are those of the folder --adapter, where there is none they begin anew. task: as trained_config takes it,
// "SequenceClassification".
void begin_with(tx::io::model_folder const& folder, trained_run& run, command_line::options const& given, std::string const& task);

// A folder that transformers opens. Of a model with adapters they are merged into its weights, and stand by themselves in `to`/adapter, as PEFT has them.
// `changes` are those of config.json.
void save_trained(std::filesystem::path const& to, trained_run const& run, tx::io::model_folder const& from, std::string const& task, nlohmann::json const& changes);

}  // namespace bert
