// What all training has in common: options of the command line, and of the loop.
#pragma once

#include "../command_line/options.hpp"
#include "../command_line/processes.hpp"
#include "../command_line/trained_run.hpp"

#include <tx/io/model_folder.hpp>
#include <tx/train/loop/options.hpp>
#include <tx/train/loop/run_folder.hpp>

#include <cstdint>
#include <functional>
#include <optional>

namespace bert {

// A command's own options, and those.
std::vector<command_line::option> with_common_options(std::vector<command_line::option> own);

// What becomes of --out that holds something. Throws value_error where --resume has no state to go on from.
tx::train::run_folder_options folder_options(command_line::options const& given);
// That folder, of the process that writes.
std::optional<tx::train::run_folder> held_folder(command_line::options const& given);
// Checkpoints, metrics and events in the folder `out`, and whether it goes on.
tx::train::loop_options loop_options(command_line::options const& given, std::filesystem::path const& out);
// For a Chrome trace of the step with this number, or of the last where there are fewer; empty where none is wanted.
std::string trace_of(command_line::options const& given, tx::train::moment const& now);
// So many steps, or a few more where an update takes several.
std::int64_t whole_updates(std::int64_t steps);
// How far training is in the step after so many of all, in its middle, from 0 to 1: counted in updates, as all steps of one have one rate.
double share_done(std::int64_t done, std::int64_t steps);
// What other processes do where the first one saves a run's parameters; nothing where each has all of them.
std::function<void()> helps_to_save(command_line::trained_run& run);
// --rate, the learning rate at its highest: unless said that of the command's own recipe; where the program was told another optimizer it has to be said.
command_line::option rate_option(std::string const& of, double recipe);
double rate_of(command_line::options const& given, double recipe);
// Of a file's bytes: what a run and one that resumes it must have in common.
std::string sum_of(std::string const& file);
// The same of a model's configuration and its tokenizer.
std::string sum_of(tx::io::model_folder const& folder);
// A number by as many digits as tell it from every other.
std::string exact(double x);

}  // namespace bert
