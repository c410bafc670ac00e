#include "program.hpp"

#include <tx/core/error.hpp>
#include <tx/io/standard_streams.hpp>
#include <tx/train/loop/options.hpp>

#include <charconv>
#include <cstdio>
#include <exception>
#include <new>

namespace command_line {
namespace {

void dispatch(std::string_view name, std::string_view overview, std::span<command const> commands, std::span<std::string const> arguments) {
  std::string const help = "see " + std::string(name) + " --help";
  if (arguments.empty()) throw tx::value_error("a command is missing; " + help);
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
  throw tx::value_error("unknown command '" + arguments[0] + "'" + (near.empty() ? "; " + help : near));
}

}  // namespace

int run_program(std::string_view name, std::string_view overview, std::span<command const> commands, std::span<std::string const> arguments) {
  auto const say = [&](char const* what) {
    if (*what != '\0') std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(name.size()), name.data(), what);
  };
  try {
    tx::io::open_standard_streams();
    dispatch(name, overview, commands, arguments);
    return 0;
  } catch (tx::train::stopped const& s) {
    say(s.what());
    return 128 + s.signal;
  } catch (std::bad_alloc const&) {
    say("out of memory");
  } catch (std::exception const& e) {
    say(e.what());
  }
  return 1;
}

bool helped(options const& given, std::string_view usage, std::span<option const> known) {
  if (given.has("help")) tx::io::print(help_text(usage, known));
  return given.has("help");
}

void append(std::string& out, float value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

}  // namespace command_line
