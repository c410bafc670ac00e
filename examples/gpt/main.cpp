// A causal language model of bytes: trained on any text, asked to go on with a prompt.
#include "../command_line/program.hpp"
#include "commands.hpp"

namespace {

constexpr char const overview[] =
    "usage: gpt COMMAND [option...]\n"
    "A language model that writes byte by byte.\n\n"
    "  train     learn from a text\n"
    "  generate  go on with a prompt\n\n"
    "`gpt COMMAND --help` lists a command's options.\n";

constexpr command_line::command commands[] = {{"train", gpt::train_command}, {"generate", gpt::generate_command}};

}  // namespace

int main(int count, char** words) {
  return command_line::run_program("gpt", overview, commands, std::vector<std::string>(words + (count > 0), words + count));
}
