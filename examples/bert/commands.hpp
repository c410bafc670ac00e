// The subcommands, each given the arguments after its name. Errors are exceptions.
#pragma once

#include <span>
#include <string>

namespace bert {

void finetune_command(std::span<std::string const> arguments);
void distil_command(std::span<std::string const> arguments);
void tag_command(std::span<std::string const> arguments);
void answer_command(std::span<std::string const> arguments);
void contrast_command(std::span<std::string const> arguments);
void pretrain_command(std::span<std::string const> arguments);
void predict_command(std::span<std::string const> arguments);
void eval_command(std::span<std::string const> arguments);
void embed_command(std::span<std::string const> arguments);
void tokens_command(std::span<std::string const> arguments);
void shards_command(std::span<std::string const> arguments);

// The program: picks the subcommand. Returns the exit code.
int run_program(std::span<std::string const> arguments);

}  // namespace bert
