// A program of subcommands: `name COMMAND [option...]`.
#pragma once

#include "options.hpp"

namespace command_line {

struct command {
  std::string_view name;
  void (*run)(std::span<std::string const> arguments);  // those after its name; errors are exceptions
};

// Picks the command, prints `overview` where help is asked for, and errors to standard error. Returns the exit code: 1 for an error, 128 + the
// signal for training that was told to stop.
int run_program(std::string_view name, std::string_view overview, std::span<command const> commands, std::span<std::string const> arguments);

// Prints the help if the options ask for it. Returns whether they did.
bool helped(options const& given, std::string_view usage, std::span<option const> known);

// The shortest text that reads back as the same number, behind `out`.
void append(std::string& out, float value);

}  // namespace command_line
