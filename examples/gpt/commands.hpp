// The subcommands, each given the arguments after its name. Errors are exceptions.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace gpt {

void train_command(std::span<std::string const> arguments);
void generate_command(std::span<std::string const> arguments);

// What training leaves in the folder of a model.
inline std::filesystem::path weights_in(std::filesystem::path const& folder) { return folder / "model.safetensors"; }
inline std::filesystem::path checkpoints_in(std::filesystem::path const& folder) { return folder / "checkpoints"; }

}  // namespace gpt
