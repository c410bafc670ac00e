// The subcommands, each given the words after its name. Errors are exceptions.
#pragma once

#include <span>
#include <string>

namespace twinbert {

void train_command(std::span<std::string const> words);
void score_command(std::span<std::string const> words);
void encode_command(std::span<std::string const> words);
void eval_command(std::span<std::string const> words);

// The program: picks the subcommand, prints errors to standard error. Returns the exit code.
int run_program(std::span<std::string const> words);

}  // namespace twinbert
