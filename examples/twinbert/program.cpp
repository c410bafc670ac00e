#include "commands.hpp"
#include "../command_line/options.hpp"
#include "trainer.hpp"

#include <tx/core/error.hpp>
#include <tx/io/standard_streams.hpp>

#include <cstdio>
#include <exception>
#include <iterator>
#include <new>
#include <vector>

namespace twinbert {
namespace {

using command_line::suggestion;

constexpr char const overview[] =
    "usage: twinbert COMMAND [option...]\n"
    "Matches queries with documents by two encoders of text.\n\n"
    "  train    learn a model from pairs\n"
    "  score    how well pairs match\n"
    "  encode   vectors of texts\n"
    "  eval     AUC and recall over labelled pairs\n"
    "  bench    how long one text takes\n\n"
    "`twinbert COMMAND --help` lists a command's options.\n";

struct command {
  std::string_view name;
  void (*run)(std::span<std::string const>);
};
constexpr command commands[] = {
    {"train", train_command}, {"score", score_command}, {"encode", encode_command}, {"eval", eval_command}, {"bench", bench_command}};

void dispatch(std::span<std::string const> arguments) {
  if (arguments.empty()) throw tx::value_error("a command is missing; see twinbert --help");
  if (arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help") {
    tx::io::print(overview);
    return;
  }
  std::vector<std::string_view> names;
  for (auto const& c : commands) {
    if (c.name == arguments[0]) return c.run(arguments.subspan(1));
    names.push_back(c.name);
  }
  std::string const near = suggestion(arguments[0], names);
  throw tx::value_error("unknown command '" + arguments[0] + "'" + (near.empty() ? "; see twinbert --help" : near));
}

}  // namespace

int run_program(std::span<std::string const> arguments) {
  try {
    tx::io::open_standard_streams();
    dispatch(arguments);
    return 0;
  } catch (tx::train::stopped const& s) {
    std::fprintf(stderr, "twinbert: %s\n", s.what());
    return 128 + s.signal;
  } catch (std::bad_alloc const&) {
    std::fputs("twinbert: out of memory\n", stderr);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "twinbert: %s\n", e.what());
  }
  return 1;
}

}  // namespace twinbert
