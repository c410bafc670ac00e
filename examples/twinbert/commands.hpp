// The subcommands, each given the arguments after its name. Errors are exceptions.
#pragma once

#include <span>
#include <string>

namespace twinbert {

void train_command(std::span<std::string const> arguments);
void score_command(std::span<std::string const> arguments);
void encode_command(std::span<std::string const> arguments);
void eval_command(std::span<std::string const> arguments);
void bench_command(std::span<std::string const> arguments);

// The program: picks the subcommand, prints errors to standard error. Returns the exit code: 1 for an error, 128 + the
// signal for training that was told to stop.
int run_program(std::span<std::string const> arguments);

}  // namespace twinbert
