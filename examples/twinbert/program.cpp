#include "../command_line/program.hpp"
#include "commands.hpp"

namespace twinbert {
namespace {

constexpr char const overview[] =
    "usage: twinbert COMMAND [option...]\n"
    "Matches queries with documents by two encoders of text.\n\n"
    "  train    learn a model from pairs\n"
    "  score    how well pairs match\n"
    "  encode   vectors of texts\n"
    "  eval     AUC and recall over labelled pairs\n"
    "  bench    how long one text takes\n\n"
    "`twinbert COMMAND --help` lists a command's options.\n";

constexpr command_line::command commands[] = {
    {"train", train_command}, {"score", score_command}, {"encode", encode_command}, {"eval", eval_command}, {"bench", bench_command}};

}  // namespace

int run_program(std::span<std::string const> arguments) { return command_line::run_program("twinbert", overview, commands, arguments); }

}  // namespace twinbert
