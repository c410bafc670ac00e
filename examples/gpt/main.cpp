// A causal language model of bytes: trained on any text, asked to go on with a prompt.
#include "commands.hpp"

#include <tx/core/error.hpp>
#include <tx/io/standard_streams.hpp>

#include <cstdio>
#include <exception>
#include <vector>

namespace {

constexpr char const overview[] =
    "usage: gpt COMMAND [option...]\n"
    "A language model that writes byte by byte.\n\n"
    "  train     learn from a text\n"
    "  generate  go on with a prompt\n\n"
    "`gpt COMMAND --help` lists a command's options.\n";

void dispatch(std::span<std::string const> arguments) {
  if (arguments.empty()) throw tx::value_error("a command is missing; see gpt --help");
  if (arguments[0] == "train") return gpt::train_command(arguments.subspan(1));
  if (arguments[0] == "generate") return gpt::generate_command(arguments.subspan(1));
  if (arguments[0] != "--help") throw tx::value_error("unknown command '" + arguments[0] + "'; see gpt --help");
  tx::io::print(overview);
}

}  // namespace

int main(int count, char** words) {
  try {
    tx::io::open_standard_streams();
    dispatch(std::vector<std::string>(words + 1, words + count));
    return 0;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "gpt: %s\n", e.what());
    return 1;
  }
}
