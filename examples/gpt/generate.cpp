#include "../command_line/options.hpp"
#include "commands.hpp"
#include "config.hpp"
#include "engine.hpp"
#include "sampler.hpp"

#include <tx/core/error.hpp>
#include <tx/io/standard_streams.hpp>

#include <chrono>
#include <cstdio>

namespace gpt {
namespace {

using command_line::help_text, command_line::option, command_line::options;

std::vector<option> generate_options() {
  return {{"model", "DIR", "a folder that train wrote"},
          {"prompt", "TEXT", "what the text begins with"},
          {"tokens", "N", "bytes to write (default: what has room, " + std::to_string(config::context) + " with the prompt)"},
          {"temperature", "T", "0: always the likeliest byte; the higher, the more daring (default: 0.8)"},
          {"top-p", "P", "leave out the least likely bytes, which have 1 - P of the chances together (default: 0.95)"},
          {"seed", "S", "same seed, same text (default: 1)"},
          {"full", "", "without a cache: each byte is computed from the whole text before it"},
          command_line::device_option,
          command_line::threads_option,
          {"help", "", "print this"}};
}

}  // namespace

void generate_command(std::span<std::string const> arguments) {
  auto const known = generate_options();
  options const given(arguments, known);
  if (given.has("help")) return tx::io::print(help_text("usage: gpt generate --model DIR --prompt TEXT [option...]", known));
  std::string text = given.text("prompt");
  if (text.empty()) throw tx::value_error("--prompt is empty. FIX: at least one byte");
  auto const room = config::context - static_cast<std::int64_t>(text.size());
  if (room < 0) throw tx::value_error("--prompt has " + std::to_string(text.size()) + " bytes; the model was compiled for " + std::to_string(config::context));
  std::int64_t const tokens = given.integer("tokens", room, 0);
  if (tokens > room)
    throw tx::value_error("--prompt and --tokens are " + std::to_string(static_cast<std::int64_t>(text.size()) + tokens) + " bytes together; the model was compiled for " + std::to_string(config::context));
  sampler draw(given.number("temperature", 0.8, 0, 1e6), given.number("top-p", 0.95, 0, 1), static_cast<std::uint64_t>(given.integer("seed", 1, 0)));
  auto const write = make_writer(command_line::engine_of(given), weights_in(given.text("model")), given.has("full"));

  auto const begin = std::chrono::steady_clock::now();
  std::size_t const prompt = text.size();
  for (std::int64_t k = 0; k < tokens; ++k) text += static_cast<char>(draw.next(write->behind(text)));
  auto const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  tx::io::print(text + '\n');
  std::fprintf(stderr, "%zu bytes read, %lld written in %.3f s\n", prompt, static_cast<long long>(tokens), seconds);
}

}  // namespace gpt
